/** What of WebAssembly's JavaScript interface the kernels need: TypeScript has its types with those of pages alone. */

export interface Memory {
  /** Another one after the memory has grown: at once where this thread made it grow, and otherwise some time later. */
  readonly buffer: ArrayBufferLike
  grow(pages: number): number
}

/** The buffer of a memory that has as many bytes, whoever made it grow. */
export function bufferUpTo(memory: Memory, bytes: number): ArrayBufferLike {
  if (memory.buffer.byteLength < bytes) memory.grow(0)
  return memory.buffer
}

export interface FunctionTable {
  readonly length: number
  get(index: number): ((...args: number[]) => number) | null
  set(index: number, value: unknown): void
  grow(by: number): number
}

export interface GlobalNumber {
  value: number
}

declare const COMPILED: unique symbol

/** Compiled code. */
export interface CompiledModule {
  readonly [COMPILED]: never
}

export interface Instance {
  readonly exports: unknown
}

export type Imports = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export interface WebAssemblyInterface {
  validate(bytes: Uint8Array): boolean
  compile(bytes: Uint8Array): Promise<CompiledModule>
  compileStreaming?(response: Response | Promise<Response>): Promise<CompiledModule>
  instantiate(module: CompiledModule, imports: Imports): Promise<Instance>
  readonly Module: {
    new (bytes: Uint8Array): CompiledModule
    [Symbol.hasInstance](value: unknown): boolean
    customSections(module: CompiledModule, name: string): ArrayBuffer[]
  }
  readonly Instance: new (module: CompiledModule, imports: Imports) => Instance
  readonly Memory: new (limits: { readonly initial: number; readonly maximum?: number; readonly shared?: boolean }) => Memory
}

/** undefined in programs that have none, such as browsers in lockdown mode. */
export const webAssembly: WebAssemblyInterface | undefined = (globalThis as unknown as { readonly WebAssembly?: WebAssemblyInterface })
  .WebAssembly
