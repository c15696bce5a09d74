# Kith's everyday commands, a thin cover over tools/ and meson.
#   make            the release build: build/kith          make test       every test
#   make demo       two workers and a Top-K query          make sanitize   every test under ASan+UBSan, then TSan
#   make format     lays the code out                      make fuzz       fuzzers, FUZZ_SECONDS each (60)
#   make lint       rules of the code                      make analyse    clang-tidy
#   make check-layers, check-docs                          make reference  prints docs/reference.md again
#   make valgrind   the unit tests under valgrind

FUZZ_SECONDS ?= 60
sanitized = CC=clang-14 tools/configure $(1) --buildtype=debug -Doptimization=1 -Db_lundef=false -Db_sanitize=$(2)
comma := ,
# Each build runs the tests under another default of execution.cooperation.
address = $(call sanitized,build-asan,address$(comma)undefined) -Dfuzzers=true -Dcooperation=per_stream
thread = $(call sanitized,build-tsan,thread) -Dcooperation=shared_with_fallback
c_files = git ls-files -co --exclude-standard '*.c' '*.h'

.PHONY: all
all:
	tools/setup build test
	tools/configure build --buildtype=release
	ninja -C build

.PHONY: test
test:
	tools/setup build test
	tools/venv
	tools/configure build --buildtype=release
	ninja -C build
	meson test -C build --no-rebuild --print-errorlogs

.PHONY: demo
demo:
	tools/setup build test
	tools/demo

.PHONY: sanitize sanitize-address sanitize-thread
sanitize: sanitize-address sanitize-thread

sanitize-address:
	tools/setup
	$(address)
	ninja -C build-asan
	meson test -C build-asan --no-rebuild --print-errorlogs --no-suite tools

sanitize-thread:
	tools/setup
	$(thread)
	ninja -C build-tsan
	meson test -C build-tsan --no-rebuild --print-errorlogs --no-suite tools

# The log has a name of its own, so as not to replace that of the plain run.
# Not the tests that parse SQL: the longest texts of sql/parse alone take minutes.
.PHONY: valgrind
valgrind:
	tools/setup build test
	tools/configure build --buildtype=release
	ninja -C build
	meson test -C build --no-rebuild --print-errorlogs --setup valgrind --suite unit --no-suite sql --logbase valgrind

.PHONY: fuzz
fuzz:
	tools/setup
	$(address)
	ninja -C build-asan
	tools/fuzz build-asan $(FUZZ_SECONDS)

.PHONY: format format-check
format:
	tools/setup lint
	$(c_files) | xargs clang-format-14 -i

format-check:
	tools/setup lint
	$(c_files) | xargs clang-format-14 --dry-run -Werror

.PHONY: lint analyse
lint:
	tools/setup lint
	tools/lint

analyse:
	tools/setup
	$(address)
	tools/analyse build-asan

.PHONY: reference
reference: all
	build/tools/reference >docs/reference.md

.PHONY: check-layers check-docs
check-layers:
	tools/check_layers

check-docs:
	tools/check_docs
