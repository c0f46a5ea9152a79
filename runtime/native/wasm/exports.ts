import type { FunctionTable, GlobalNumber, Memory } from './web-assembly.js'

/** What a module of the kernels exports: kernels/include/ptlite_abi.h, and what its memory and its functions are reached by. Addresses are numbers. */
export interface KernelExports {
  readonly memory: Memory
  /** Modules that are made at run time put their functions behind those of the kernels. */
  readonly __indirect_function_table: FunctionTable
  readonly __stack_pointer: GlobalNumber
  _initialize(): void
  ptlite_launch(frame: number, host: number): number
  ptlite_abi_hash(): number
  ptlite_kernel_count(): number
  /** Address of a text that ends with a 0. */
  ptlite_kernel_name(kernel: number): number
  /** 0 where there is no memory left. */
  aligned_alloc(alignment: number, bytes: number): number
  free(address: number): void
}

/** What those have that know of threads: kernels/os/wasi/threads and kernels/pool/pool.cpp. */
export interface ThreadExports extends KernelExports {
  readonly __tls_size: GlobalNumber
  readonly __tls_align: GlobalNumber
  /** thread_locals of the calling instance lie there. */
  __wasm_init_tls(address: number): void
  ptlite_thread_begin(isFirst: number, maySleep: number): void
  ptlite_thread_end(): void
  ptlite_help(): void
  ptlite_use_threads(count: number): void
  ptlite_dismiss(count: number): void
  ptlite_abandon(): void
  ptlite_code_list(): number
}
