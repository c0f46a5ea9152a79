import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import t from 'tap'
import type * as library from '../../web/index.js'
import { frameOf } from '../../runtime/native/frame.js'
import * as native from '../../runtime/native/generated/kernels.js'
import { Kernels } from '../../runtime/native/wasm/kernels.js'
import { Crew } from '../../runtime/native/wasm/threads/crew.js'
import { newMemory } from '../../runtime/native/wasm/threads/memory.js'
import { withSharedMemory } from '../../runtime/native/wasm/threads/shared-import.js'
import { webAssembly } from '../../runtime/native/wasm/web-assembly.js'
import { DType } from '../../runtime/tensor/dtype.js'
import { fixturePath } from '../module/fixtures.js'
import { WEB_LIBRARY, webLibrary, withoutWeb } from '../support/web.js'

/** Threads of the library for browsers, in Node, where they are threads of worker_threads. */

const options = { skip: withoutWeb, timeout: 240_000 }
type Web = typeof library
type Tensor = library.Tensor

const numbers = (count: number, seed = 1): Float32Array => Float32Array.from({ length: count }, (_, i) => Math.sin(i * seed) * 3)
const bits = (tensor: unknown): Uint8Array => {
  const data = (tensor as Tensor).data() as Float32Array
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
}

async function withThreads(web: Web, count: number): Promise<void> {
  web.setNumThreads(count)
  await web.ready()
}

/** Operators whose kernels hand out ranges, each with work enough for several. */
function operators(web: Web): Readonly<Record<string, () => unknown>> {
  const of = (shape: number[], seed?: number): Tensor =>
    web.tensor(
      numbers(
        shape.reduce((a, b) => a * b, 1),
        seed,
      ),
      shape,
    )
  const [a, b] = [of([192, 256]), of([256, 320], 2)]
  const image = of([2, 24, 40, 40])
  const filters = of([40, 24, 3, 3], 3)
  const long = of([300_001])
  return {
    matmul: () => web.callOperator('aten::matmul', [a, b]),
    convolution: () => web.callOperator('aten::conv2d', [image, filters, null, [1, 1], [1, 1], [1, 1], 1]),
    softmax: () => web.callOperator('aten::softmax.int', [a, 1, null]),
    gelu: () => web.callOperator('aten::gelu', [long]),
    product: () => web.callOperator('aten::mul.Tensor', [long, long]),
    sum: () => web.callOperator('aten::sum.dim_IntList', [image, [1], false, null]),
    sort: () => (web.callOperator('aten::sort', [a, 1, false]) as unknown as [Tensor])[0],
    pooling: () => web.callOperator('aten::max_pool2d', [image, [3, 3], [2, 2], [1, 1], [1, 1], false]),
  }
}

const MODELS: Readonly<Record<string, readonly number[]>> = {
  resnet18: [2, 3, 64, 64],
  mobilenet_v3: [1, 3, 64, 64],
  squeezenet: [1, 3, 96, 96],
}

t.test('any number of threads gives the same bits', options, async (t) => {
  const web = await webLibrary()
  t.equal(web.getNumThreads(), 1, 'one to begin with')
  const calls = operators(web)
  const modules = await Promise.all(
    Object.entries(MODELS).map(async ([name, shape]) => {
      const input = web.tensor(numbers(shape.reduce((a, b) => a * b, 1)), [...shape])
      const file = fixturePath(`models/${name}.ptl`)
      const [interpreted, compiled] = [await web.loadModule(file, { compile: 'off' }), await web.loadModule(file, { compile: 'eager' })]
      // weights are packed by the first call
      for (const module of [interpreted, compiled]) module.forward(input)
      return { name, interpreted: () => interpreted.forward(input), compiled: () => compiled.forward(input) }
    }),
  )
  await web.codeReady()
  for (const { name, interpreted, compiled } of modules) Object.assign(calls, { [name]: interpreted, [`${name}, compiled`]: compiled })
  const expected = Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, bits(call())]))
  for (const count of [2, 4, 1, 3]) {
    await withThreads(web, count)
    t.equal(web.getNumThreads(), count)
    for (const [name, call] of Object.entries(calls))
      for (let i = 0; i < 3; i++) t.ok(Buffer.compare(bits(call()), expected[name]!) === 0, `${name} with ${count} threads`)
  }
  await withThreads(web, 1)
})

/** Nanoseconds that each thread of this process has run; undefined where the system does not say. */
function timesOfThreads(): Map<string, number> | undefined {
  const folder = '/proc/self/task'
  if (!existsSync(folder)) return undefined
  return new Map(readdirSync(folder).map((id) => [id, Number(readFileSync(`${folder}/${id}/schedstat`, 'utf8').split(' ')[0])]))
}

t.test('threads take their parts', { ...options, skip: withoutWeb || (timesOfThreads() === undefined && 'needs /proc') }, async (t) => {
  const web = await webLibrary()
  const x = web.tensor(numbers(512 * 512), [512, 512])
  const task = (): void => {
    for (let i = 0; i < 40; i++) (web.callOperator('aten::matmul', [x, x]) as Tensor).dispose()
  }
  const busy = (): number => {
    const before = timesOfThreads()!
    task()
    const spent = [...timesOfThreads()!].map(([id, time]) => time - (before.get(id) ?? 0)).sort((a, b) => b - a)
    return spent.filter((time) => time > spent[0]! / 5).length
  }
  task()
  t.ok(busy() < 3)
  await withThreads(web, 4)
  t.ok(busy() >= 3)
  await withThreads(web, 1)
  t.ok(busy() < 3)
})

t.test('numbers of threads that change all the time', options, async (t) => {
  const web = await webLibrary()
  const calls = Object.values(operators(web)).slice(3)
  const expected = calls.map((call) => bits(call()))
  let different = 0
  for (let i = 0; i < 25; i++) {
    web.setNumThreads(1 + ((i * 7) % 5))
    if (i % 5 === 0) await web.ready()
    else if (i % 3 === 0) await new Promise((resolve) => setTimeout(resolve, i % 4))
    for (let n = 0; n < 30; n++) {
      const result = calls[n % calls.length]!() as Tensor
      if (n < calls.length && Buffer.compare(bits(result), expected[n]!) !== 0) different++
      result.dispose()
    }
  }
  t.equal(different, 0)
  await withThreads(web, 1)
})

t.test('runs on other threads, beside each other and beside calls', options, async (t) => {
  const web = await webLibrary()
  const module = await web.loadModule(fixturePath('models/resnet18.ptl'), { compile: 'eager' })
  const inputs = [1, 2, 3].map((seed) => web.tensor(numbers(3 * 64 * 64, seed), [1, 3, 64, 64]))
  for (const input of inputs) module.forward(input)
  await web.codeReady()
  const expected = inputs.map((input) => bits(module.forward(input)))
  for (const count of [1, 3]) {
    await withThreads(web, count)
    const runs = Array.from({ length: 24 }, async (_, i) => {
      const output = await module.run('forward', [inputs[i % 3]!])
      return Buffer.compare(bits(output), expected[i % 3]!)
    })
    let isOver = false
    const all = Promise.all(runs).finally(() => (isOver = true))
    let calls = 0
    while (!isOver) {
      if (Buffer.compare(bits(module.forward(inputs[calls % 3]!)), expected[calls % 3]!) !== 0) t.fail('a call beside runs')
      calls++
      await new Promise((resolve) => setImmediate(resolve))
    }
    t.strictSame(new Set(await all), new Set([0]), `${calls} calls meanwhile, ${count} threads`)
  }
  await withThreads(web, 1)
})

t.test('the event loop goes on while a plan runs, which can be given up, and has its limits', options, async (t) => {
  const web = await webLibrary()
  const module = await web.loadModule(fixturePath('models/resnet18.ptl'), { compile: 'eager' })
  const input = web.tensor(numbers(96 * 3 * 64 * 64), [96, 3, 64, 64])
  const start = performance.now()
  module.forward(input)
  const milliseconds = performance.now() - start
  await withThreads(web, 2)
  await module.run('forward', [input])
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  await module.run('forward', [input])
  clearInterval(timer)
  t.ok(turns > 3, `${turns} turns within some ${milliseconds} ms`)
  for (let i = 0; i < 3; i++) {
    const controller = new AbortController()
    setTimeout(() => {
      controller.abort()
    }, 5 * i)
    await t.rejects(module.run('forward', [input], { signal: controller.signal }), { code: 'ABORTED', cause: { name: 'AbortError' } })
    await t.rejects(module.run('forward', [input], { limits: { milliseconds: 3 } }), { code: 'LIMIT_EXCEEDED' })
    t.throws(() => module.call('forward', [input], { limits: { milliseconds: 3 } }), { code: 'LIMIT_EXCEEDED' })
  }
  const small = web.tensor(numbers(3 * 64 * 64), [1, 3, 64, 64])
  module.forward(small)
  await web.codeReady()
  t.strictSame(bits(await module.run('forward', [small])), bits(module.forward(small)), 'and it goes on')
  await withThreads(web, 1)
})

t.test('generated code that comes and goes', options, async (t) => {
  const web = await webLibrary()
  await withThreads(web, 3)
  for (let round = 0; round < 6; round++) {
    const name = Object.keys(MODELS)[round % 3]!
    const shape = [...MODELS[name]!]
    const input = web.tensor(numbers(shape.reduce((a, b) => a * b, 1)), shape)
    const module = await web.loadModule(fixturePath(`models/${name}.ptl`), { compile: 'eager' })
    module.forward(input)
    // code becomes ready while these run
    const outputs = [module.forward(input), ...(await Promise.all([0, 1, 2, 3].map(() => module.run('forward', [input]))))]
    await web.codeReady()
    outputs.push(module.forward(input), await module.run('forward', [input]))
    const off = await web.loadModule(fixturePath(`models/${name}.ptl`), { compile: 'off' })
    const expected = (off.forward(input) as Tensor).data() as Float32Array
    for (const output of outputs) {
      const found = (output as Tensor).data() as Float32Array
      t.ok(
        found.every((value, i) => Math.abs(value - expected[i]!) < 1e-3),
        `${name}, round ${round}`,
      )
    }
    module.dispose()
    off.dispose()
  }
  await withThreads(web, 1)
})

/** Runs a program of its own; what it writes, line by line. */
function program(code: string): { readonly lines: unknown[]; readonly said: string; readonly status: number | null } {
  const text = `import * as web from ${JSON.stringify(pathToFileURL(WEB_LIBRARY).href)}
    const say = (value) => console.log(JSON.stringify(value))
    const x = () => web.tensor(Float32Array.from({ length: 65536 }, (_, i) => i % 17), [256, 256])
    ${code}`
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', text], {
    encoding: 'utf8',
    timeout: 120_000,
  })
  return {
    lines: stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as unknown),
    said: stderr,
    status,
  }
}

t.test('a program with threads ends', options, (t) => {
  const { lines, said, status } = program(`
    web.setNumThreads(3)
    await web.ready()
    say(web.callOperator('aten::matmul', [x(), x()]).data()[5])
    const module = await web.loadModule(${JSON.stringify(fixturePath('models/resnet18.ptl'))}, { compile: 'eager' })
    const image = web.tensor(new Float32Array(3 * 32 * 32), [1, 3, 32, 32])
    module.forward(image)
    say((await module.run('forward', [image])).numel)`)
  t.equal(status, 0, said)
  t.equal(said, '')
  t.equal(lines.length, 2)
  t.equal(lines[1], 10)
  const early = program('web.setNumThreads(4); say(web.callOperator("aten::matmul", [x(), x()]).numel); process.exit(3)')
  t.strictSame([early.lines, early.status], [[65536], 3], 'at once, too')
  t.end()
})

t.test('threads before the kernels are there', options, (t) => {
  const { lines, said } = program(`
    web.setNumThreads(1e6)
    say(web.getNumThreads())
    web.setNumThreads(2)
    for (const count of [0, 1.5, '2']) try { web.setNumThreads(count) } catch ({ code }) { say(code) }
    await web.ready()
    say(web.getNumThreads())`)
  t.strictSame(lines, [64, 'INVALID_ARGUMENT', 'INVALID_ARGUMENT', 'INVALID_ARGUMENT', 2], said)
  t.end()
})

t.test('threads that cannot be started', options, (t) => {
  const kernels = fileURLToPath(new URL('../../dist/web/ptlite.wasm', import.meta.url))
  const { lines, said, status } = program(`
    web.setKernels({ DEFAULT: ${JSON.stringify(pathToFileURL(kernels).href)}, THREAD: new URL('file:///there/is/no/thread.js') })
    web.setNumThreads(3)
    await web.ready()
    say(web.callOperator('aten::matmul', [x(), x()]).numel)
    const module = await web.loadModule(${JSON.stringify(fixturePath('models/resnet18.ptl'))}, { compile: 'eager' })
    const image = web.tensor(new Float32Array(3 * 32 * 32), [1, 3, 32, 32])
    module.forward(image)
    say((await module.run('forward', [image])).numel)`)
  t.strictSame(lines, [65536, 10], said)
  t.match(said, /ptlite: no thread can be started/)
  t.equal(status, 0)
  t.end()
})

t.test('a module that was compiled elsewhere has one thread', options, (t) => {
  const file = fileURLToPath(new URL('../../dist/web/ptlite.wasm', import.meta.url))
  const { lines, said } = program(`
    const { readFileSync } = await import('node:fs')
    web.setKernels({ DEFAULT: new WebAssembly.Module(readFileSync(${JSON.stringify(file)})) })
    web.setNumThreads(3)
    await web.ready()
    say(web.getNumThreads())
    say(web.callOperator('aten::matmul', [x(), x()]).numel)`)
  t.strictSame(lines, [1, 65536], said)
  t.end()
})

const DIST = new URL('../../dist/', import.meta.url)

async function crewOf(helpers: number): Promise<{ readonly kernels: Kernels; readonly crew: Crew }> {
  const module = new webAssembly!.Module(withSharedMemory(readFileSync(fileURLToPath(new URL('web/ptlite.wasm', DIST)))))
  const memory = newMemory(true)
  t.ok(memory.isShared)
  const kernels = Kernels.of(module, memory)
  const crew = new Crew(kernels, module, memory.memory!, new URL('web/thread.js', DIST))
  crew.want(1 + helpers)
  await crew.begun()
  return { kernels, crew }
}

t.test('a trap on another thread is an error, and no kernel runs after it', options, async (t) => {
  const { kernels, crew } = await crewOf(0)
  const fill = (address: number, bytes: number): Uint8Array => frameOf(() => native.mem_fill({ address, bytes, value: 1 }))
  t.equal(await crew.launch(fill(kernels.take(64), 64)), 0)
  const others = [0, 1, 2].map(() => crew.launch(fill(0xfffffff0, 0x1000)))
  // all are waited for at once: one that is rejected before anybody waits for it is an error of the process
  const trapped = { code: /INTERNAL|NATIVE_LIBRARY/, message: /memory access out of bounds/ }
  await Promise.all(others.map((launch) => t.rejects(launch, trapped)))
  t.throws(() => kernels.take(64), { code: 'NATIVE_LIBRARY', message: /trap/ })
  await t.rejects(crew.launch(fill(0, 64)), { code: 'NATIVE_LIBRARY' })
})

t.test('a trap of a helper ends the kernel that it helps', options, async (t) => {
  const { kernels } = await crewOf(3)
  const n = 1 << 22
  const out = kernels.take(4 * n)
  // the first half is there
  const input = kernels.exports.memory.buffer.byteLength - 2 * n
  const frame = frameOf(() =>
    native.unary({
      op: native.UnaryOp.exp,
      compute: native.Compute.f32,
      ndim: 1,
      out_dtype: DType.float32,
      in_dtype: DType.float32,
      n,
      out,
      in: input,
      p0: 0,
      p1: 0,
      p2: 0,
      sizes: [n],
      out_strides: [1],
      in_strides: [1],
    }),
  )
  t.throws(() => kernels.launchFrame(frame), { code: 'INTERNAL' })
  t.throws(() => kernels.take(64), { code: 'NATIVE_LIBRARY', message: /trap/ })
})
