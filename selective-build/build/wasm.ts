import { existsSync, mkdirSync, statSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { writeFiles } from '../../codegen/write.js'
import { PtliteError } from '../../runtime/error.js'
import { generator, nativeFiles, type NativeInput, type NativeLibrary, run } from './native.js'
import { sourcesOfKernels } from './sources.js'

const VERSION = 19
/** Debian's libc++ for WebAssembly. */
const HEADERS = `/usr/lib/llvm-${VERSION}/include/wasm32-wasi/c++/v1`
const NEEDS = `a build for wasm32 needs clang++-${VERSION} with what Debian has for wasm32: apt-get install clang-${VERSION} lld-${VERSION} wasi-libc libc++-${VERSION}-dev-wasm32 libclang-rt-${VERSION}-dev-wasm32 cmake ninja-build`

/** Compiles the module of kernels of a selective build, which is of one level. Throws NATIVE_LIBRARY with what is missing, or what the compiler says. */
export async function buildWasm({ root, folder, files, kernels, levels, onProgress }: NativeInput): Promise<NativeLibrary> {
  if (!existsSync(HEADERS)) throw new PtliteError('NATIVE_LIBRARY', `${HEADERS} is missing; ${NEEDS}`)
  mkdirSync(folder, { recursive: true })
  await writeFiles(new Map([...nativeFiles(files)].map(([path, text]) => [path.slice('kernels/'.length), text])), folder)
  const sources = kernels === null ? [] : sourcesOfKernels(root, kernels, 'wasm')
  const configure = [
    ...['-S', join(root, 'kernels/arch/wasm'), '-B', folder, '-DCMAKE_BUILD_TYPE=Release', `-DPTLITE_LEVEL=${levels[0]!}`],
    ...[`-DCMAKE_CXX_COMPILER=clang++-${VERSION}`, '-DCMAKE_CXX_COMPILER_TARGET=wasm32-wasi', `-DCMAKE_CXX_FLAGS=-isystem ${HEADERS}`],
    ...[`-DPTLITE_GENERATED=${join(folder, 'generated')}`, `-DPTLITE_SOURCES=${sources.join(';')}`],
    ...(existsSync(join(folder, 'CMakeCache.txt')) ? [] : await generator()),
  ]
  await run('cmake', configure, () => undefined, NEEDS)
  const onLine = (line: string): void => {
    if (/^\[/.test(line)) onProgress(line.replace(/CMakeFiles\/(\w+)\.dir\//, '$1 '))
  }
  await run('cmake', ['--build', folder, '--parallel', String(cpus().length)], onLine, NEEDS)
  const path = join(folder, 'ptlite.wasm')
  return { path, bytes: statSync(path).size, unstripped: join(folder, 'ptlite.map') }
}
