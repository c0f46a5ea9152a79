import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { inspectModel, loadModule, tensor } from '../../src/index.js'
import { difference, inputOf } from '../pt2/fixtures.js'
import { kernelFields } from '../../runtime/native/generated/kernel-fields.js'
import { readTrace } from '../../selective-build/selection/read-trace.js'
import { ptlite } from '../cli/in-process.js'
import { runnable } from '../support/node.js'
import { CHANGES, fixturePath, PROGRAMS, readCalls } from './fixtures.js'

for (const name of PROGRAMS) {
  for (const compile of ['off', 'auto', 'eager'] as const) {
    t.test(`${name}, compile: '${compile}'`, async (t) => {
      const module = await loadModule(fixturePath(`${name}.pte`), { compile })
      const { calls, tolerance } = readCalls(name)
      // the second call of a form is compiled, the third replayed; other sizes come between
      const order = CHANGES.has(name) ? calls : [...calls, ...calls.flatMap((call) => [call, call])]
      for (const [turn, { method, args, result }] of order.entries()) {
        const found = module.call(method, args.map(inputOf))
        t.equal(difference(found, result, 'result', tolerance), undefined, `call ${turn} of ${method}`)
      }
      module.dispose()
    })
  }
}

t.test('calls are replayed as plans', async (t) => {
  for (const name of ['net', 'net_xnnpack', 'net_int8_channel', 'arrange_xnnpack']) {
    const module = await loadModule(fixturePath(`${name}.pte`), { compile: 'eager' })
    module.forward(...readCalls(name).calls[0]!.args.map(inputOf))
    t.equal(module.plans()[0]?.state, 'plan', name)
    module.dispose()
  }
})

t.test('off the event loop', async (t) => {
  for (const name of ['net_xnnpack', 'structures']) {
    const module = await loadModule(fixturePath(`${name}.pte`))
    const [call] = readCalls(name).calls
    t.equal(difference(await module.run('forward', call!.args.map(inputOf)), call!.result), undefined, name)
    module.dispose()
  }
})

t.test('in a worker', async (t) => {
  const library = pathToFileURL(runnable(fileURLToPath(new URL('../../src/index.ts', import.meta.url)))).href
  const [call] = readCalls('net_xnnpack').calls
  const { tensor: data, shape } = call!.args[0] as { tensor: number[]; shape: number[] }
  const code = `
    const { parentPort, workerData: { library, model, data, shape } } = require('node:worker_threads')
    import(library).then(async ({ loadModule, tensor }) => {
      const module = await loadModule(model, { compile: 'eager' })
      parentPort.postMessage([...module.forward(tensor(data, shape)).data()])
    })`
  const worker = new Worker(code, {
    eval: true,
    workerData: { library, model: fixturePath('net_xnnpack.pte'), data: Float32Array.from(data), shape },
    execArgv: ['--enable-source-maps=false'],
  })
  const [found] = (await once(worker, 'message')) as [number[]]
  await worker.terminate()
  const { tensor: wanted } = call!.result as { tensor: number[] }
  t.equal(found.length, wanted.length)
  for (const [i, value] of wanted.entries()) t.ok(Math.abs(found[i]! - value) < 1e-4, `element ${i}`)
})

t.test('what a program takes is checked, by name', async (t) => {
  const sizes = await loadModule(fixturePath('sizes.pte'))
  t.throws(() => sizes.forward(tensor(new Float32Array(27), [9, 3])), { message: /argument \w+, dimension 0: expected 0 to 8, found 9/ })
  t.throws(() => sizes.forward(tensor(new Int32Array(9), [3, 3])), { message: /expected float32/ })
  t.throws(() => sizes.forward(tensor(new Float32Array(9), [9])), { message: /expected 2 dimensions/ })
  sizes.dispose()
  const net = await loadModule(fixturePath('net.pte'))
  t.throws(() => net.forward(tensor(new Float32Array(75), [1, 3, 5, 5])), { message: /dimension 2: expected 8, found 5/ })
  t.match(net.inputs?.[0], { type: 'Tensor', dtype: 'float32' })
  net.dispose()
})

t.test('state belongs to a module', async (t) => {
  const [one, other] = [await loadModule(fixturePath('state.pte')), await loadModule(fixturePath('state.pte'))]
  const { calls } = readCalls('state')
  for (const module of [one, other])
    for (const { args, result } of calls) t.equal(difference(module.forward(...args.map(inputOf)), result), undefined)
  one.dispose()
  other.dispose()
})

t.test('data in a .ptd file', async (t) => {
  const { calls } = readCalls('external')
  const data = fixturePath('_default_external_constant.ptd')
  const right = async (given: Parameters<typeof loadModule>): Promise<void> => {
    const module = await loadModule(...given)
    t.equal(difference(module.forward(...calls[0]!.args.map(inputOf)), calls[0]!.result), undefined)
    module.dispose()
  }
  await right([fixturePath('external.pte'), { data: [data] }])
  await right([readFileSync(fixturePath('external.pte')), { data: [readFileSync(data)] }])
  await t.rejects(loadModule(fixturePath('external.pte')), { code: 'UNSUPPORTED_FILE', message: /give the \.ptd files/ })
  await t.rejects(loadModule(fixturePath('external.pte'), { data: [fixturePath('net.pte')] }), { code: 'INVALID_FILE' })
  await t.rejects(loadModule(fixturePath('external.pte'), { data: [1 as never] }), { code: 'INVALID_ARGUMENT' })
  const folder = mkdtempSync(join(tmpdir(), 'ptlite-pte-'))
  copyFileSync(fixturePath('external.pte'), join(folder, 'model.pte'))
  copyFileSync(data, join(folder, 'model.ptd'))
  await right([join(folder, 'model.pte')])
  rmSync(folder, { recursive: true })
})

t.test('it is described', async (t) => {
  const report = await inspectModel(fixturePath('methods.pte'))
  t.strictSame(report.methods.map(({ name }) => name).sort(), ['encode', 'forward', 'length', 'rate', 'tokens'])
})

t.test('its layout is described: partitions, memory and data', async (t) => {
  const { layout } = await inspectModel(fixturePath('net_xnnpack.pte'))
  t.match(layout?.versions, { container: 'ET12', program: 0 })
  const [forward] = layout!.methods
  t.match(forward, { name: 'forward', refusal: null, partitions: [{ backend: 'XnnpackBackend', calls: 1 }] })
  t.ok(forward!.partitions[0]!.nodes.some(({ name, calls }) => name === 'Conv2d' && calls >= 2))
  t.ok(forward!.memories[0]! > 0)
  t.ok(layout!.sections.some(({ name, bytes }) => name === 'delegate XnnpackBackend' && bytes > 0))
  t.equal(
    layout!.dataBytes,
    layout!.sections.reduce((sum, { bytes }) => sum + bytes, 0),
  )
  const portable = await inspectModel(fixturePath('net.pte'))
  t.ok(portable.layout!.methods[0]!.operators.some(({ name }) => name === 'aten::convolution.out'))
  t.strictSame(portable.layout!.methods[0]!.partitions, [])
  t.ok(portable.layout!.sections.some(({ name }) => name === 'constants'))
})

t.test('another backend is named, with the methods that it serves and the export without it', async (t) => {
  const content = readFileSync(fixturePath('net_xnnpack.pte'))
  const at = content.indexOf('XnnpackBackend')
  content.write('VulkanBackend\0', at)
  content.writeUInt32LE('VulkanBackend'.length, at - 4)
  const message = /method 'forward' was lowered to the backend VulkanBackend.*without VulkanPartitioner, or with XnnpackPartitioner/
  await t.rejects(loadModule(content), { code: 'UNSUPPORTED_FILE', message })
  const { layout } = await inspectModel(content)
  t.match(layout?.methods[0]?.refusal, message)
  t.ok(layout?.methods[0]?.partitions.some(({ backend, nodes }) => backend === 'VulkanBackend' && nodes.length === 0))
})

t.test('positions in a cache are counted from its start alone', async (t) => {
  const module = await loadModule(fixturePath('language.pte'))
  const args = readCalls('language').calls[0]!.args.map(inputOf)
  const places = [0, 1, 2, -1]
  args[9] = tensor(BigInt64Array.from(places, BigInt), [2, 2])
  t.throws(() => module.forward(...args), { message: /index 4 is out of bounds|out of range|out of bounds/ })
  module.dispose()
})

t.test('a trace for selective builds says what a program needs', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ptlite-pte-'))
  const [input, output] = [join(folder, 'x.json'), join(folder, 'net.trace')]
  const { tensor: data, shape } = readCalls('net_xnnpack').calls[0]!.args[0] as { tensor: number[]; shape: number[] }
  const rows = Array.from({ length: shape[1]! * shape[2]! }, (_, i) => data.slice(i * shape[3]!, (i + 1) * shape[3]!))
  const channels = Array.from({ length: shape[1]! }, (_, i) => rows.slice(i * shape[2]!, (i + 1) * shape[2]!))
  writeFileSync(input, JSON.stringify([channels]))
  const { status, stderr } = await ptlite('trace', fixturePath('net_xnnpack.pte'), '--input', input, '-o', output)
  t.equal(status, 0, stderr)
  const { features, operators } = readTrace(output, new Set(kernelFields.map((row) => row.split(' ', 1)[0]!)))
  t.ok(features.has('loader:pte'))
  t.ok([...operators.keys()].some((name) => /^aten::conv/.test(name)))
  rmSync(folder, { recursive: true })
})
