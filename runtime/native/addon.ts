/**
 * What a kernel library exports as an addon of Node-API (kernels/host/addon.cpp). Selective builds do not shorten the names in this file.
 * All functions throw an Error for arguments of other types.
 */
export interface KernelAddon {
  /** Fingerprint of the declarations that the library was built from. */
  readonly abiHash: number
  /** Runs the kernel that the frame names at each call, with the memory of `host`; returns its status. The frame must not be transferred. */
  bind(frame: Uint8Array): (host?: ArrayBufferView) => number
  /** The same on another native thread, without `host`. The frame is kept until `done` is called. Not in selective builds without plans. */
  launchAsync(frame: Uint8Array, done: (status: number) => void): void
  /** Loads a library of custom kernels, for which `launch` is what a bound one is here. Not in selective builds. */
  open(path: string): { readonly abiHash: number; launch(frame: Uint8Array, host?: ArrayBufferView): number }
}
