// A disk for SQLite that can lose power: it remembers of every file what was last synced, and `lose_power` puts that,
// or a mixture of it and of what was written since, into another folder. Installed as SQLite's default VFS, so that
// the ledger under test knows nothing of it.
//
//   write  ->  the real file (what the running program sees)
//   sync   ->  a copy of the whole file (what the platter has)
//
// Threads: one. Owns: the copies. At most one at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include <sqlite3.h>

#include "core/base/check.h"
#include "core/base/rng.h"

namespace potluck::test {

class ForgetfulDisk {
public:
    ForgetfulDisk() {
        s_disk = this;
        m_real = sqlite3_vfs_find(nullptr);
        POTLUCK_CHECK(m_real != nullptr && m_real->iVersion >= 2);
        m_vfs = *m_real;
        m_vfs.zName = "forgetful";
        m_vfs.szOsFile = static_cast<int>(sizeof(File)) + m_real->szOsFile;
        m_vfs.xOpen = open;
        m_vfs.xDelete = remove;
        POTLUCK_CHECK(sqlite3_vfs_register(&m_vfs, 1) == SQLITE_OK);
    }
    ~ForgetfulDisk() {
        sqlite3_vfs_unregister(&m_vfs);
        s_disk = nullptr;
    }
    ForgetfulDisk(const ForgetfulDisk&) = delete;
    ForgetfulDisk& operator=(const ForgetfulDisk&) = delete;

    /// Called before each sync, the worst moment to lose power.
    std::function<void()> before_sync;

    enum class Unsynced { lost, torn };
    /// Writes into `after` what a computer finds of `before` when power is back: of `torn`, every block of 512 bytes
    /// is that of the last sync or that of now, as `rng` decides.
    void lose_power(const std::filesystem::path& before, const std::filesystem::path& after, Unsynced unsynced,
                    Rng& rng) const {
        std::filesystem::remove_all(after);
        std::filesystem::create_directories(after);
        for (const auto& [path, synced] : m_synced) {
            if (std::filesystem::path(path).parent_path() != before) continue;
            std::string content = synced;
            if (unsynced == Unsynced::torn) mix(content, content_of(path), rng);
            const std::filesystem::path target = after / std::filesystem::path(path).filename();
            std::ofstream(target, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
        }
    }

private:
    /// What SQLite holds; the real VFS's file lies behind it in the same block of memory.
    struct File {
        sqlite3_file base;
        std::string* path;
        [[nodiscard]] sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
    };
    static_assert(sizeof(File) % alignof(std::max_align_t) == 0);

    static constexpr std::size_t block_bytes = 512;

    static std::string content_of(const std::string& path) {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    static void mix(std::string& synced, const std::string& now, Rng& rng) {
        if (now.size() > synced.size() && rng.below(2) == 0) synced.resize(now.size(), '\0');
        for (std::size_t at = 0; at < std::min(synced.size(), now.size()); at += block_bytes) {
            if (rng.below(2) == 0) continue;
            const std::size_t size = std::min({block_bytes, synced.size() - at, now.size() - at});
            std::memcpy(synced.data() + at, now.data() + at, size);
        }
    }

    static sqlite3_file* real_of(sqlite3_file* file) { return reinterpret_cast<File*>(file)->real(); }

    static int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
        auto* const mine = reinterpret_cast<File*>(file);
        const int result = s_disk->m_real->xOpen(s_disk->m_real, name, mine->real(), flags, out_flags);
        mine->path = name == nullptr ? nullptr : new std::string(name);
        mine->base.pMethods = mine->real()->pMethods == nullptr ? nullptr : methods();
        if (mine->base.pMethods == nullptr) delete std::exchange(mine->path, nullptr);
        return result;
    }

    static int remove(sqlite3_vfs*, const char* name, int sync_folder) {
        s_disk->m_synced.erase(name);
        return s_disk->m_real->xDelete(s_disk->m_real, name, sync_folder);
    }

    static int close(sqlite3_file* file) {
        auto* const mine = reinterpret_cast<File*>(file);
        const int result = mine->real()->pMethods->xClose(mine->real());
        delete std::exchange(mine->path, nullptr);
        return result;
    }

    static int sync(sqlite3_file* file, int flags) {
        const auto* const mine = reinterpret_cast<File*>(file);
        if (s_disk->before_sync) s_disk->before_sync();
        const int result = real_of(file)->pMethods->xSync(real_of(file), flags);
        if (result != SQLITE_OK || mine->path == nullptr) return result;
        s_disk->m_synced[*mine->path] = content_of(*mine->path);
        return result;
    }

    /// Version 2 has shared memory, which a write-ahead log needs, and no memory maps, which would write past xWrite.
    static const sqlite3_io_methods* methods() {
        static const sqlite3_io_methods table = [] {
            sqlite3_io_methods each{};
            each.iVersion = 2;
            each.xClose = close;
            each.xSync = sync;
            each.xRead = [](sqlite3_file* f, void* to, int size, sqlite3_int64 at) {
                return real_of(f)->pMethods->xRead(real_of(f), to, size, at);
            };
            each.xWrite = [](sqlite3_file* f, const void* from, int size, sqlite3_int64 at) {
                return real_of(f)->pMethods->xWrite(real_of(f), from, size, at);
            };
            each.xTruncate = [](sqlite3_file* f, sqlite3_int64 size) {
                return real_of(f)->pMethods->xTruncate(real_of(f), size);
            };
            each.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) {
                return real_of(f)->pMethods->xFileSize(real_of(f), size);
            };
            each.xLock = [](sqlite3_file* f, int how) { return real_of(f)->pMethods->xLock(real_of(f), how); };
            each.xUnlock = [](sqlite3_file* f, int how) { return real_of(f)->pMethods->xUnlock(real_of(f), how); };
            each.xCheckReservedLock = [](sqlite3_file* f, int* is) {
                return real_of(f)->pMethods->xCheckReservedLock(real_of(f), is);
            };
            each.xFileControl = [](sqlite3_file* f, int what, void* argument) {
                return real_of(f)->pMethods->xFileControl(real_of(f), what, argument);
            };
            each.xSectorSize = [](sqlite3_file* f) { return real_of(f)->pMethods->xSectorSize(real_of(f)); };
            // Promises nothing: what a real disk claims about atomic writes must not hide a missing sync.
            each.xDeviceCharacteristics = [](sqlite3_file*) { return 0; };
            each.xShmMap = [](sqlite3_file* f, int page, int size, int extend, void volatile** at) {
                return real_of(f)->pMethods->xShmMap(real_of(f), page, size, extend, at);
            };
            each.xShmLock = [](sqlite3_file* f, int offset, int count, int flags) {
                return real_of(f)->pMethods->xShmLock(real_of(f), offset, count, flags);
            };
            each.xShmBarrier = [](sqlite3_file* f) { real_of(f)->pMethods->xShmBarrier(real_of(f)); };
            each.xShmUnmap = [](sqlite3_file* f, int erase) {
                return real_of(f)->pMethods->xShmUnmap(real_of(f), erase);
            };
            return each;
        }();
        return &table;
    }

    static inline ForgetfulDisk* s_disk = nullptr;  // SQLite's call-backs carry no pointer of ours
    sqlite3_vfs* m_real = nullptr;
    sqlite3_vfs m_vfs{};
    std::map<std::string, std::string> m_synced;  // path -> content at its last sync
};

}  // namespace potluck::test
