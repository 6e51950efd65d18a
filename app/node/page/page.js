// What the page can do beyond being read: copy a link, say how old it is, and fetch itself again. Without this file it
// is still whole. Nothing here makes markup of text.
"use strict";

function addCopyButtons(root) {
  if (!navigator.clipboard) return;
  for (const block of root.querySelectorAll("pre.copy")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(block.textContent);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Copying is not allowed here";
      }
    });
    block.after(button);
  }
}

function showAge() {
  const time = document.querySelector("footer time");
  if (!time) return;
  const minutes = Math.floor((Date.now() - Date.parse(time.dateTime)) / 60000);
  if (minutes < 1) return;
  const hours = Math.floor(minutes / 60);
  time.title = time.dateTime;
  time.textContent = hours < 1 ? `${minutes} min ago` : hours < 48 ? `${hours} h ago` : time.dateTime.slice(0, 10);
}

// An invite behind #, which no server ever sees: one press opens it in Potluck.
function showInvite() {
  const invite = location.hash.slice(1);
  if (!/^(potluck|magnet):\?/i.test(invite)) return;
  document.getElementById("invited")?.remove();
  const box = document.createElement("section");
  box.id = "invited";
  const link = document.createElement("a");
  link.className = "button";
  link.href = invite;
  link.textContent = "Join this run in Potluck";
  const note = document.createElement("p");
  note.textContent = "You were invited. If nothing opens, install Potluck first, copy this page's whole address and paste it there.";
  box.append(link, note);
  document.querySelector("main").prepend(box);
}

async function refresh() {
  const opened = [...document.querySelectorAll("details")].filter((one) => one.open).map((one) => one.textContent);
  try {
    const answer = await fetch(location.pathname, { cache: "no-store" });
    if (!answer.ok) return;
    const next = new DOMParser().parseFromString(await answer.text(), "text/html");
    const main = next.querySelector("main");
    if (!main) return;
    for (const one of main.querySelectorAll("details")) one.open = one.open || opened.includes(one.textContent);
    document.title = next.title;
    document.querySelector("main").replaceWith(document.adoptNode(main));
    addCopyButtons(main);
    showInvite();
  } catch {
    // The server is away: the page stays as it is and says how old it is.
  }
  showAge();
}

addCopyButtons(document);
showAge();
showInvite();
addEventListener("hashchange", showInvite);
const every = Number(document.body.dataset.every);
if (every > 0 && location.protocol.startsWith("http")) setInterval(refresh, Math.max(every, 10) * 1000);
