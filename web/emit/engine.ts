/** What is used of the WebAssembly of the page or of Node, whose types neither is asked for. */
interface Engine {
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => WasmModule
  readonly Instance: new (module: WasmModule, imports: Imports) => WasmInstance
  readonly Memory: new (limits: { initial: number; maximum?: number; shared?: boolean }) => WasmMemory
  readonly Table: new (limits: { element: 'anyfunc'; initial: number }) => WasmTable
  validate(bytes: Uint8Array<ArrayBuffer>): boolean
  compile(bytes: Uint8Array<ArrayBuffer>): Promise<WasmModule>
}

export interface WasmModule {
  readonly [Symbol.toStringTag]: string
}
export interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>
}
export interface WasmMemory {
  readonly buffer: ArrayBuffer
  grow(pages: number): number
}
export type WasmFunction = (...numbers: number[]) => unknown
export interface WasmTable {
  readonly length: number
  get(index: number): WasmFunction | null
  set(index: number, value: WasmFunction | null): void
  grow(count: number): number
}
type Imports = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export const engine = (globalThis as unknown as { readonly WebAssembly: Engine }).WebAssembly
