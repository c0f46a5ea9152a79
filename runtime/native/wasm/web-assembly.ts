/** What of WebAssembly's JavaScript interface the kernels need: TypeScript has its types with those of pages alone. */

export interface Memory {
  readonly buffer: ArrayBuffer
  grow(pages: number): number
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

type Imports = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export interface WebAssemblyInterface {
  validate(bytes: Uint8Array): boolean
  compile(bytes: Uint8Array): Promise<CompiledModule>
  compileStreaming?(response: Response | Promise<Response>): Promise<CompiledModule>
  instantiate(module: CompiledModule, imports: Imports): Promise<Instance>
  readonly Module: { new (bytes: Uint8Array): CompiledModule; [Symbol.hasInstance](value: unknown): boolean }
  readonly Instance: new (module: CompiledModule, imports: Imports) => Instance
  readonly Memory: new (limits: { readonly initial: number; readonly maximum?: number; readonly shared?: boolean }) => Memory
}

/** undefined in programs that have none, such as browsers in lockdown mode. */
export const webAssembly: WebAssemblyInterface | undefined = (globalThis as unknown as { readonly WebAssembly?: WebAssemblyInterface })
  .WebAssembly
