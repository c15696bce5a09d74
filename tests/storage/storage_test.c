#include "testing.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "runtime/fiber.h"
#include "runtime/io.h"
#include "storage/storage.h"
#include "temporary.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void put(const char *path, const char *text)
{
    assert_int_equal(temporary_file(path, text, strlen(text)), 0);
}

/* Checks that `pattern` lists exactly the paths in `expected`, joined by spaces. */
static void assert_glob(const char *pattern, const char *expected)
{
    _cleanup_(file_list_reset) struct file_list list = {0};
    _cleanup_(strbuf_reset) struct strbuf text = {0};
    assert_ok(storage_glob(pattern, &list));
    for (size_t i = 0; i < list.count; i++)
        assert_ok(strbuf_printf(&text, "%s%s", i == 0 ? "" : " ", list.entries[i].path));
    assert_ok(strbuf_append_text(&text, ""));
    assert_string_equal(text.data, expected);
}

/* Checks how many entries the working directory has. */
static void assert_entries(size_t expected)
{
    DIR *folder = opendir(".");
    assert_non_null(folder);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(folder);
    assert_int_equal(count, expected);
}

static void reads_any_range_of_a_local_file(void **state)
{
    put("a.txt", "0123456789");
    _cleanup_(storage_file_unref) struct storage_file *file = NULL;
    char bytes[11] = "";
    assert_ok(storage_open("a.txt", &file));
    assert_int_equal(file->size, 10);
    assert_ok(storage_file_read(file, 3, 4, bytes));
    assert_string_equal(bytes, "3456");
    assert_ok(storage_file_read(file, 10, 0, bytes));
    assert_fails(storage_file_read(file, 8, 5, bytes), KITH_ERROR_CORRUPT, "a.txt: bytes 8..13 are past the end at 10");
    assert_fails(storage_file_read(file, UINT64_MAX, 5, bytes), KITH_ERROR_CORRUPT, "past the end");
}

static void a_file_url_is_a_local_path_and_other_schemes_are_refused(void **state)
{
    put("a.txt", "x");
    char url[1024];
    snprintf(url, sizeof url, "file://%s/a.txt", (const char *)*state);
    struct storage_file *file = NULL;
    assert_ok(storage_open(url, &file));
    storage_file_unref(file);
    assert_fails(storage_open("s3://bucket/a", &file), KITH_ERROR_NOT_IMPLEMENTED, "s3://");
    assert_fails(storage_open("", &file), KITH_ERROR_INVALID_ARGUMENT, "empty path");
}

static void opening_says_what_is_in_the_way(void **state)
{
    struct storage_file *file = NULL;
    assert_fails(storage_open("none.parquet", &file), KITH_ERROR_NOT_FOUND, "none.parquet");
    mkdir("folder", 0777);
    assert_fails(storage_open("folder", &file), KITH_ERROR_INVALID_ARGUMENT, "is a directory");
    assert_int_equal(mkfifo("pipe", 0666), 0);
    assert_fails(storage_open("pipe", &file), KITH_ERROR_INVALID_ARGUMENT, "not a regular file");
}

static void a_memory_file_reads_like_any_other(void **state)
{
    _cleanup_(storage_file_unref) struct storage_file *file = NULL;
    char bytes[3] = "";
    assert_ok(storage_open_memory("m", "abc", 3, &file));
    assert_ok(storage_file_read(file, 1, 2, bytes));
    assert_string_equal(bytes, "bc");
    assert_fails(storage_file_read(file, 2, 2, bytes), KITH_ERROR_CORRUPT, "m: bytes 2..4");
}

enum { READERS = 8, READS = 200 };

/* Many small reads of one shared file, each checked against where it is. */
static kith_error *read_about(void *argument)
{
    struct storage_file *file = argument;
    uint64_t random = 3;
    for (int i = 0; i < READS; i++) {
        uint32_t place = (uint32_t)(test_random(&random) % (file->size / 4)), found;
        TRY(storage_file_read(file, (uint64_t)place * 4, sizeof found, &found));
        if (found != place)
            return error_new(KITH_ERROR_INTERNAL, "%u where %u was written", found, place);
    }
    return NULL;
}

static kith_error *read_in_fibers(void *argument)
{
    _cleanup_(storage_file_unref) struct storage_file *file = NULL;
    struct fiber *fibers[READERS];
    kith_error *error = NULL;
    TRY(storage_open("numbers", &file));
    for (int i = 0; i < READERS; i++)
        TRY(fiber_spawn(runtime_current(), NULL, read_about, file, &fibers[i]));
    for (int i = 0; i < READERS; i++) {
        kith_error *joined = fiber_join(fibers[i]);
        if (error == NULL)
            error = joined;
        else
            error_free(joined);
    }
    return error;
}

static void fibers_on_several_threads_read_one_file(void **state)
{
    static uint32_t numbers[10000];
    _cleanup_(runtime_free) struct runtime *runtime = NULL;
    for (uint32_t i = 0; i < ARRAY_SIZE(numbers); i++)
        numbers[i] = i;
    assert_int_equal(temporary_file("numbers", numbers, sizeof numbers), 0);
    assert_ok(runtime_new(&(struct runtime_options){.threads = 2}, &runtime));
    assert_ok(runtime_run(runtime, read_in_fibers, NULL));
}

/* Keeps the only thread for calls that block until the file is open, which must therefore not need it. */
struct blocked_thread {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool blocked, opened, gave_up;
};

static kith_error *block_until_opened(void *argument)
{
    struct blocked_thread *thread = argument;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 20;
    pthread_mutex_lock(&thread->mutex);
    thread->blocked = true;
    while (!thread->opened && !thread->gave_up)
        thread->gave_up = pthread_cond_timedwait(&thread->changed, &thread->mutex, &until) != 0;
    pthread_mutex_unlock(&thread->mutex);
    return NULL;
}

static kith_error *block_a_thread(void *argument)
{
    return offload(block_until_opened, argument);
}

static kith_error *open_meanwhile(void *argument)
{
    struct blocked_thread *thread = argument;
    _cleanup_(storage_file_unref) struct storage_file *first = NULL, *second = NULL;
    struct fiber *blocker;
    TRY(storage_open("a.txt", &first));
    TRY(fiber_spawn(runtime_current(), NULL, block_a_thread, thread, &blocker));
    for (bool blocked = false; !blocked;) {
        TRY(fiber_yield());
        pthread_mutex_lock(&thread->mutex);
        blocked = thread->blocked;
        pthread_mutex_unlock(&thread->mutex);
    }
    TRY(storage_open("a.txt", &second));
    pthread_mutex_lock(&thread->mutex);
    thread->opened = true;
    pthread_cond_signal(&thread->changed);
    pthread_mutex_unlock(&thread->mutex);
    TRY(fiber_join(blocker));
    if (thread->gave_up)
        return error_new(KITH_ERROR_INTERNAL, "opening the file waited for the thread");
    return NULL;
}

/* Linux 5.12 and later, on file systems that need not ask anybody. */
static bool known_paths_can_be_told(const char *path)
{
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC, .resolve = RESOLVE_CACHED};
    int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void a_file_whose_path_the_kernel_knows_is_opened_without_another_thread(void **state)
{
    struct blocked_thread thread = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    _cleanup_(runtime_free) struct runtime *runtime = NULL;
    put("a.txt", "x");
    if (!known_paths_can_be_told("a.txt"))
        skip();
    assert_ok(runtime_new(&(struct runtime_options){.threads = 1, .offload_threads = 1}, &runtime));
    assert_ok(runtime_run(runtime, open_meanwhile, &thread));
}

static void a_pattern_lists_matching_files_sorted(void **state)
{
    put("b.parquet", "22");
    put("a.parquet", "1");
    put("c.csv", "");
    put("d/e.parquet", "");
    put("d/f/g.parquet", "");
    assert_glob("*.parquet", "a.parquet b.parquet");
    assert_glob("[ab].parquet", "a.parquet b.parquet");
    assert_glob("./a*", "./a.parquet");
    assert_glob("?/*.parquet", "d/e.parquet");
    assert_glob("**/*.parquet", "a.parquet b.parquet d/e.parquet d/f/g.parquet");
    assert_glob("d/**", "d/e.parquet d/f/g.parquet");
    assert_glob("**/**/f/**/g.parquet", "d/f/g.parquet");
    _cleanup_(file_list_reset) struct file_list list = {0};
    assert_ok(storage_glob("b*", &list));
    assert_int_equal(list.entries[0].size, 2);
    assert_true(list.entries[0].modified_ns > 0);
}

static void a_directory_lists_its_parquet_files_but_not_hidden_ones(void **state)
{
    put("t/a.parquet", "");
    put("t/_metadata.parquet", "");
    put("t/.b.parquet", "");
    put("t/_temporary/c.parquet", "");
    put("t/year=1/d.parquet", "");
    put("t/readme.txt", "");
    assert_glob("t", "t/a.parquet t/year=1/d.parquet");
    assert_glob("t/", "t/a.parquet t/year=1/d.parquet");
}

static void a_name_that_exists_is_itself_even_with_pattern_characters(void **state)
{
    put("a[1].parquet", "");
    put("a1.parquet", "");
    assert_glob("a[1].parquet", "a[1].parquet");
}

static void links_in_a_loop_end(void **state)
{
    put("t/a.parquet", "");
    assert_int_equal(symlink("..", "t/up"), 0);
    assert_glob("**/*.parquet", "t/a.parquet");
}

static void no_match_says_what_was_looked_for(void **state)
{
    struct file_list list;
    mkdir("empty", 0777);
    assert_fails(storage_glob("x*.parquet", &list), KITH_ERROR_NOT_FOUND, "no file matches x*.parquet");
    assert_fails(storage_glob("x.parquet", &list), KITH_ERROR_NOT_FOUND, "x.parquet");
    assert_fails(storage_glob("empty", &list), KITH_ERROR_NOT_FOUND, "the directory empty holds no *.parquet file");
    assert_fails(storage_glob("none/*/x", &list), KITH_ERROR_NOT_FOUND, "none/*/x");
}

static void a_written_file_appears_only_when_finished(void **state)
{
    _cleanup_(storage_writer_free) struct storage_writer *writer = NULL;
    char big[300000];
    memset(big, 'x', sizeof big);
    assert_ok(storage_create("out.bin", &writer));
    assert_ok(storage_writer_append(writer, "abc", 3));
    assert_ok(storage_writer_append(writer, big, sizeof big));
    assert_ok(storage_writer_append(writer, "def", 3));
    assert_int_equal(storage_writer_position(writer), sizeof big + 6);
    assert_int_equal(access("out.bin", F_OK), -1);
    assert_ok(storage_writer_finish(writer));

    _cleanup_(storage_file_unref) struct storage_file *file = NULL;
    char ends[7] = "";
    assert_ok(storage_open("out.bin", &file));
    assert_int_equal(file->size, sizeof big + 6);
    assert_ok(storage_file_read(file, 0, 3, ends));
    assert_ok(storage_file_read(file, sizeof big + 3, 3, ends + 3));
    assert_string_equal(ends, "abcdef");
}

static void an_unfinished_file_leaves_nothing_and_replaces_nothing(void **state)
{
    put("out.bin", "old");
    struct storage_writer *writer = NULL;
    assert_ok(storage_create("out.bin", &writer));
    assert_ok(storage_writer_append(writer, "new", 3));
    storage_writer_free(writer);
    assert_glob("*", "out.bin");
    assert_entries(1); /* hidden ones too */
    _cleanup_(storage_file_unref) struct storage_file *file = NULL;
    char bytes[4] = "";
    assert_ok(storage_open("out.bin", &file));
    assert_int_equal(file->size, 3);
    assert_ok(storage_file_read(file, 0, 3, bytes));
    assert_string_equal(bytes, "old");
}

static void creating_says_what_is_in_the_way(void **state)
{
    struct storage_writer *writer = NULL;
    assert_fails(storage_create("none/out.bin", &writer), KITH_ERROR_NOT_FOUND, "none/out.bin");
    mkdir("folder", 0777);
    assert_fails(storage_create("folder", &writer), KITH_ERROR_INVALID_ARGUMENT, "it is a directory");
    assert_fails(storage_create("gs://b/o", &writer), KITH_ERROR_NOT_IMPLEMENTED, "gs://");
}

static kith_error *list_and_write(void)
{
    _cleanup_(file_list_reset) struct file_list list = {0};
    _cleanup_(storage_file_unref) struct storage_file *file = NULL;
    _cleanup_(storage_writer_free) struct storage_writer *writer = NULL;
    TRY(storage_glob("**/*.parquet", &list));
    TRY(storage_open(list.entries[0].path, &file));
    TRY(storage_create("out.bin", &writer));
    return storage_writer_finish(writer);
}

static void every_failed_allocation_is_an_error(void **state)
{
    put("d/a.parquet", "");
    put("d/e/b.parquet", "");
    for (size_t n = 1;; n++) {
        alloc_fail_after(n);
        kith_error *error = list_and_write();
        alloc_fail_after(0);
        if (error == NULL) {
            assert_true(n > 20);
            break;
        }
        assert_int_equal(kith_error_code(error), KITH_ERROR_OUT_OF_MEMORY);
        error_free(error);
        assert_entries(1); /* no temporary file is left beside d */
    }
}

#define TEST_IN_DIRECTORY(function) \
    cmocka_unit_test_setup_teardown(function, temporary_folder_enter, temporary_folder_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_DIRECTORY(reads_any_range_of_a_local_file),
        TEST_IN_DIRECTORY(a_file_url_is_a_local_path_and_other_schemes_are_refused),
        TEST_IN_DIRECTORY(opening_says_what_is_in_the_way),
        TEST_IN_DIRECTORY(a_memory_file_reads_like_any_other),
        TEST_IN_DIRECTORY(fibers_on_several_threads_read_one_file),
        TEST_IN_DIRECTORY(a_file_whose_path_the_kernel_knows_is_opened_without_another_thread),
        TEST_IN_DIRECTORY(a_pattern_lists_matching_files_sorted),
        TEST_IN_DIRECTORY(a_directory_lists_its_parquet_files_but_not_hidden_ones),
        TEST_IN_DIRECTORY(a_name_that_exists_is_itself_even_with_pattern_characters),
        TEST_IN_DIRECTORY(links_in_a_loop_end),
        TEST_IN_DIRECTORY(no_match_says_what_was_looked_for),
        TEST_IN_DIRECTORY(a_written_file_appears_only_when_finished),
        TEST_IN_DIRECTORY(an_unfinished_file_leaves_nothing_and_replaces_nothing),
        TEST_IN_DIRECTORY(creating_says_what_is_in_the_way),
        TEST_IN_DIRECTORY(every_failed_allocation_is_an_error),
    };
    return cmocka_run_group_tests_name("storage", tests, NULL, NULL);
}
