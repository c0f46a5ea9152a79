import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import type { KernelAddon } from '../../runtime/native/addon.js'
import { KERNEL_ABI_HASH } from '../../runtime/native/generated/kernels.js'
import { checkWhole } from '../../runtime/native/library-file.js'
import { findLibrary } from '../../runtime/native/library-path.js'
import { fixturePath } from '../module/fixtures.js'
import { nodeArguments } from '../support/node.js'

const child = nodeArguments(fileURLToPath(new URL('library-child.ts', import.meta.url)))
const library = findLibrary()
const dist = fileURLToPath(new URL('../../dist', import.meta.url))
const compiler = spawnSync('g++', ['--version']).error === undefined ? 'g++' : undefined

/** Lines that a program prints which calls an operator and loads a model. */
function linesOf(flags: readonly string[], env: Record<string, string> = {}, program: readonly string[] = child, cwd = '.'): string[] {
  // tap would load something of its own in it
  const clean = { NODE_OPTIONS: '', NODE_V8_COVERAGE: '', ...env }
  const words = [...Object.entries(clean).map(([name, value]) => `${name}=${value}`), process.execPath, ...flags, ...program]
  const result = spawnSync('env', [...words, fixturePath('compile.ptl')], { encoding: 'utf8', cwd })
  if (result.status !== 0) throw new Error(`${result.status} ${result.signal}: ${result.stderr}`)
  return result.stdout.trim().split('\n')
}

t.test('a kernel library that was cut off is refused, and does not end the process', async (t) => {
  const path = join(t.testdir({}), 'libptlite.so')
  const whole = readFileSync(library)
  for (const bytes of [64, 4096, 65_536, whole.length >> 1, whole.length - 1]) {
    writeFileSync(path, whole.subarray(0, bytes))
    for (const line of linesOf([], { PTLITE_NATIVE_LIBRARY: path }))
      t.match(line, new RegExp(`^NATIVE_LIBRARY: cannot load .*: the file was cut off: it has ${bytes} of ${whole.length} bytes`))
  }
  for (const other of ['', 'text', `\x7fELF${'\0'.repeat(20)}`]) {
    writeFileSync(path, other)
    t.match(linesOf([], { PTLITE_NATIVE_LIBRARY: path })[0], /^NATIVE_LIBRARY: cannot load /)
  }
  t.match(linesOf([], { PTLITE_NATIVE_LIBRARY: dist })[0], /^NATIVE_LIBRARY: cannot load .*EISDIR/)
})

t.test('a kernel library for another processor is refused by name', async (t) => {
  const path = join(t.testdir({}), 'libptlite.so')
  const bytes = Buffer.from(readFileSync(library))
  // what an ELF file calls its processor: x86-64 is 62, 64-bit Arm 183
  const [other, name] = process.arch === 'x64' ? [183, 'arm64'] : [62, 'x64']
  bytes.writeUInt16LE(other, 18)
  writeFileSync(path, bytes)
  t.match(
    linesOf([], { PTLITE_NATIVE_LIBRARY: path })[0],
    new RegExp(`^NATIVE_LIBRARY: cannot load .*: it is for ${name}, which this Node is not`),
  )
})

/** The headers of a library for Windows on x86-64, of one section that ends at 4096. */
function windowsLibrary(): Buffer {
  const bytes = Buffer.alloc(512)
  bytes.write('MZ')
  bytes.writeUInt32LE(128, 60)
  bytes.write('PE', 128)
  bytes.writeUInt16LE(process.arch === 'x64' ? 0x8664 : 0xaa64, 132)
  bytes.writeUInt16LE(1, 134)
  bytes.writeUInt16LE(112, 148)
  bytes.writeUInt32LE(3072, 264 + 16)
  bytes.writeUInt32LE(1024, 264 + 20)
  return bytes
}

t.test('a kernel library for another system is refused by name', async (t) => {
  const path = join(t.testdir({}), 'libptlite.so')
  const whole = windowsLibrary()
  writeFileSync(path, whole)
  t.match(linesOf([], { PTLITE_NATIVE_LIBRARY: path })[0], /^NATIVE_LIBRARY: cannot load .*: it is for win32, which this Node is not/)
  t.throws(() => {
    checkWhole(path, 'win32')
  }, /^the file was cut off: it has 512 of 4096 bytes/)
  writeFileSync(path, Buffer.concat([whole, Buffer.alloc(3584)]))
  checkWhole(path, 'win32')
  // headers that lead nowhere are for the loader to refuse
  whole.writeUInt32LE(0xffffffff, 60)
  writeFileSync(path, whole)
  checkWhole(path, 'win32')
  t.match(linesOf([], { PTLITE_NATIVE_LIBRARY: path })[0], /^NATIVE_LIBRARY: cannot load /)
})

t.test('without addons the error says what to start Node with', async (t) => {
  for (const line of linesOf(['--no-addons']))
    t.match(line, /^NATIVE_LIBRARY: cannot load .*libptlite\.so.*loading addons is disabled.*; .* without --no-addons/)
})

t.test("under Node's permission model errors are PtliteErrors", async (t) => {
  const flag = process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission'
  const everything = [flag, '--allow-fs-read=*']
  for (const line of linesOf(everything)) t.match(line, /^NATIVE_LIBRARY: cannot load .*libptlite\.so.*--allow-addons/)
  t.strictSame(linesOf([...everything, '--allow-addons']).length, 2)
  t.equal(linesOf([...everything, '--allow-addons'])[1], 'loaded')
})

t.test('other libraries are refused', { skip: compiler === undefined ? 'no g++ here' : false }, async (t) => {
  const folder = t.testdir({
    'plain.cpp': 'extern "C" int answer() { return 42; }',
    // another version of the library: what it exports differs
    'other.cpp': 'extern "C" void* napi_register_module_v1(void*, void* exports) { return exports; }',
    'unresolved.cpp': 'extern "C" int missing_function(); int used = missing_function();',
  })
  const expected = {
    plain: /^NATIVE_LIBRARY: cannot load .*plain\.so.*: it is no kernel library/,
    other: /^NATIVE_LIBRARY: cannot load .*other\.so.*: it was built for another version of ptlite; /,
    unresolved: /^NATIVE_LIBRARY: cannot load .*unresolved\.so.*undefined symbol: missing_function/,
  }
  for (const [name, message] of Object.entries(expected)) {
    const path = join(folder, `${name}.so`)
    execFileSync('g++', ['-shared', '-fPIC', join(folder, `${name}.cpp`), '-o', path])
    for (const line of linesOf([], { PTLITE_NATIVE_LIBRARY: path })) t.match(line, message)
  }
})

t.test('a library is found by a path relative to the working directory, without a folder too', async (t) => {
  const folder = t.testdir({})
  copyFileSync(library, join(folder, 'libptlite.so'))
  for (const path of ['libptlite.so', './libptlite.so'])
    t.equal(linesOf([], { PTLITE_NATIVE_LIBRARY: path }, child, folder)[1], 'loaded', path)
})

t.test('the library can be loaded several times in a thread: each has its own frame', async (t) => {
  const addons = [1, 2].map(() => {
    const module = { exports: {} as KernelAddon }
    process.dlopen(module, library)
    return module.exports
  })
  t.equal(addons[0]!.abiHash, KERNEL_ABI_HASH)
  const NO_KERNEL = 6
  for (const { bind, launchAsync } of addons) {
    const frame = new Uint8Array(4096).fill(0xff)
    const launch = bind(frame)
    t.equal(launch(), NO_KERNEL)
    t.equal(new BigUint64Array(frame.buffer)[1], 0n, 'no memory of the caller')
    t.equal(launch(new Float32Array(4)), NO_KERNEL)
    t.not(new BigUint64Array(frame.buffer)[1], 0n, 'its address')
    t.equal(launch(new DataView(new ArrayBuffer(8))), NO_KERNEL)
    t.equal(await new Promise((done) => launchAsync(frame, done)), NO_KERNEL)
  }
  const { bind, launchAsync, open } = addons[0]! as unknown as Record<string, (...values: unknown[]) => unknown>
  for (const value of [undefined, null, 1, {}, new ArrayBuffer(4096), new Float32Array(1024), new Uint8Array(15)]) {
    t.throws(() => bind!(value), { message: 'expected a frame' })
    t.throws(() => launchAsync!(value, () => 0), { message: 'expected a frame' })
  }
  const launch = bind!(new Uint8Array(16).fill(0xff)) as (host: unknown) => number
  for (const value of [undefined, null, 1, {}, new ArrayBuffer(8)])
    t.throws(() => launch(value), { message: 'expected an ArrayBufferView' })
  for (const value of [undefined, 1, 'x'.repeat(40_000)]) t.throws(() => open!(value), { message: 'expected a path' })
})
