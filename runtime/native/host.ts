import { resolve, toNamespacedPath } from 'node:path'
import { PtliteError } from '../error.js'
import type { KernelAddon } from './addon.js'
import { checkWhole } from './library-file.js'
import { unpacked } from './unpacked.js'

/** Runs the kernel that the frame of this thread names; `host` is JavaScript memory that it reads or writes. Returns the kernel's status. */
export type Launch = (host: ArrayBufferView | null) => number

/** A native library that runs kernels. */
export interface Host {
  readonly launch: Launch
  /** What the functions below need. */
  readonly addon: KernelAddon
}

/** Of Linux: what is missing is found here, and not when it is called, which would end the process. */
const RTLD_NOW = 2

/**
 * Loads a kernel library, whose kernels take `frame`. Throws NATIVE_LIBRARY where it cannot be loaded, was cut off, is no kernel library, or was
 * built from declarations with another hash, which `mismatch` says.
 */
export function loadHost(path: string, frame: Uint8Array, abiHash: number, mismatch: () => string): Host {
  const addon = loadAddon(path)
  if (addon.abiHash !== abiHash) throw notLoaded(path, mismatch())
  const launch = addon.bind(frame)
  return { launch: (host) => (host === null ? launch() : launch(host)), addon }
}

/** Runs the kernel of another frame on another native thread; fulfils with its status. The frame must not be transferred until then. */
export function launchElsewhere({ addon }: Host, frame: Uint8Array): Promise<number> {
  return new Promise((done) => addon.launchAsync(frame, done))
}

/** Loads a library of custom kernels, which run on `frame`. Throws as loadHost does. */
export function openCustomLibrary({ addon }: Host, path: string, frame: Uint8Array, abiHash: number, mismatch: () => string): Launch {
  const library = openCustom(addon, path)
  if (library.abiHash !== abiHash) throw notLoaded(path, mismatch())
  return (host) => (host === null ? library.launch(frame) : library.launch(frame, host))
}

function loadAddon(path: string): KernelAddon {
  const module = { exports: {} as KernelAddon }
  try {
    const file = fileOf(path)
    checkWhole(file)
    process.dlopen(module, file, RTLD_NOW)
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === 'ERR_DLOPEN_DISABLED')
      throw notLoaded(
        path,
        `${message}; the kernel library is an addon: start Node without --no-addons, and with --allow-addons where it asks for permissions`,
        cause,
      )
    // what Node says of a library without an entry
    if (message.includes('did not self-register')) throw notLoaded(path, 'it is no kernel library of this version of ptlite', cause)
    throw notLoaded(path, message, cause)
  }
  return module.exports
}

/** A name alone would be looked for in other folders. */
function fileOf(path: string): string {
  return unpacked(resolve(path))
}

function openCustom(addon: KernelAddon, path: string): ReturnType<KernelAddon['open']> {
  try {
    const file = fileOf(path)
    checkWhole(file)
    return addon.open(toNamespacedPath(file))
  } catch (cause) {
    throw notLoaded(path, (cause as Error).message, cause)
  }
}

function notLoaded(path: string, reason: string, cause?: unknown): PtliteError {
  return new PtliteError('NATIVE_LIBRARY', `cannot load ${path}: ${reason}`, { cause })
}
