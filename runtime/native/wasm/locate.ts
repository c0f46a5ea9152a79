import { PtliteError } from '../../error.js'
import { FILES } from './files.js'
import { highestWasmLevel, type WasmLevel } from './features.js'
import { type CompiledModule, webAssembly } from './web-assembly.js'

/**
 * Where the kernels are: the URL of a file, its bytes, the answer to a request for it, a module that was compiled already, or one of these for each level:
 * `DEFAULT` is taken where an engine does not know the instructions of `RELAXED`. `THREAD` is the URL of the program of threads.
 */
export type KernelSource = KernelFile | KernelFiles
export type KernelFiles = Partial<Record<WasmLevel, KernelFile>> & { readonly THREAD?: string | URL }
export type KernelFile = string | URL | Uint8Array | ArrayBuffer | Response | Promise<Response> | CompiledModule

/** The file for this engine. Throws UNSUPPORTED_HOST where it has no vectors of WebAssembly. */
export function chooseKernels(source: KernelSource | undefined): KernelFile {
  const level = highestWasmLevel()
  if (level === undefined)
    throw new PtliteError(
      'UNSUPPORTED_HOST',
      webAssembly === undefined
        ? 'this program has no WebAssembly, or its Content-Security-Policy has no wasm-unsafe-eval'
        : 'this engine has no vectors of WebAssembly; it takes Chrome 91, Firefox 89, Safari 16.4 or Node 16.4',
    )
  if (source !== undefined && !isByLevel(source)) return source
  const at = (wanted: WasmLevel): KernelFile | undefined => (source === undefined ? FILES[wanted]?.() : source[wanted])
  const file = (level === 'RELAXED' ? at('RELAXED') : undefined) ?? at('DEFAULT')
  if (file === undefined) throw new PtliteError('UNSUPPORTED_HOST', 'this engine has no relaxed SIMD; give setKernels a file DEFAULT, too')
  return file
}

/** Where the program of threads is, if not beside the library. */
export function threadsFile(source: KernelSource | undefined): string | URL | undefined {
  return source !== undefined && isByLevel(source) ? source.THREAD : undefined
}

function isByLevel(source: KernelSource): source is KernelFiles {
  return typeof source === 'object' && Object.getPrototypeOf(source) === Object.prototype
}

interface Files {
  readFileSync(path: string | URL): Uint8Array
}

/** Of Node and what follows it, where files are read at once. */
export function filesOfHost(): Files | undefined {
  const { process } = globalThis as unknown as { readonly process?: { getBuiltinModule?(name: string): Files | undefined } }
  return process?.getBuiltinModule?.('fs')
}

/** Compiled code at once, of what `change` makes of the file; undefined where that has to be waited for. Throws NATIVE_LIBRARY. */
export function compileNow(file: KernelFile, change = same): CompiledModule | undefined {
  if (isCompiled(file)) return file
  return from(file, () => {
    const bytes = bytesNow(change(file))
    return bytes && new webAssembly!.Module(bytes)
  })
}

/** The same from anywhere. Rejects with NATIVE_LIBRARY. */
export async function compileLater(file: KernelFile, change = same): Promise<CompiledModule> {
  if (isCompiled(file)) return file
  try {
    const given = change(file)
    const bytes = bytesNow(given)
    if (bytes !== undefined) return await webAssembly!.compile(bytes)
    const response = await answerFor(given)
    // a server that does not know the type of the file has it compiled in one piece
    const isNamed = response.headers.get('content-type')?.startsWith('application/wasm') === true
    return isNamed && webAssembly!.compileStreaming !== undefined
      ? await webAssembly!.compileStreaming(response)
      : await webAssembly!.compile(new Uint8Array(await response.arrayBuffer()))
  } catch (cause) {
    throw notLoaded(file, cause)
  }
}

/** What a server answers for a file, or has answered. Rejects with Error where it has none. */
export async function answerFor(file: KernelFile): Promise<Response> {
  const response = await (isAddress(file) ? fetch(file) : (file as Response | Promise<Response>))
  if (!response.ok) throw new Error(`the server answered with status ${response.status}`)
  return response
}

const same = (file: KernelFile): KernelFile => file

function from<T>(file: KernelFile, make: () => T): T {
  try {
    return make()
  } catch (cause) {
    throw notLoaded(file, cause)
  }
}

export function bytesNow(file: KernelFile): Uint8Array | undefined {
  if (file instanceof Uint8Array) return file
  if (file instanceof ArrayBuffer) return new Uint8Array(file)
  if (!isAddress(file)) return undefined
  const text = String(file)
  return text.startsWith('file:') ? filesOfHost()?.readFileSync(new URL(text)) : undefined
}

export const isAddress = (file: KernelFile): file is string | URL => typeof file === 'string' || file instanceof URL

/** Its memory is what it was compiled for. */
export function isCompiled(file: KernelFile): file is CompiledModule {
  return webAssembly !== undefined && (file as unknown) instanceof webAssembly.Module
}

function notLoaded(file: KernelFile, cause: unknown): PtliteError {
  const what = isAddress(file) ? String(file) : 'the file that was given'
  const message = cause instanceof Error ? cause.message : String(cause)
  return new PtliteError(
    'NATIVE_LIBRARY',
    `cannot load the kernels from ${what}: ${message}; serve dist/web/*.wasm of the package beside the program, or say by setKernels() where they are`,
    { cause },
  )
}
