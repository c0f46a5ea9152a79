import t from 'tap'
import { loadModelFile } from '../../formats/read.js'
import { OPCODE_BY_NAME } from '../../program/opcodes.js'
import { Storage } from '../../runtime/tensor/storage.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import { loadModule, PtliteError, tensor } from '../../src/index.js'
import { CHANGES, difference, fixturePath, formsOf, inputOf, PROGRAMS, readCalls } from './fixtures.js'
import { type Any, bytesOf, meta, node, program, tensorArgument } from './writer.js'

for (const name of PROGRAMS) {
  for (const form of formsOf(name)) {
    for (const compile of ['off', 'auto', 'eager'] as const) {
      t.test(`${name}.${form}, compile: '${compile}'`, async (t) => {
        const module = await loadModule(fixturePath(`${name}.${form}`), { compile })
        const { calls, refused } = readCalls(name)
        // the second call of a form is compiled, the third replayed; other sizes come between
        const order = CHANGES.has(name) ? calls : [...calls, ...calls.flatMap((call) => [call, call])]
        for (const [turn, { args, result, after }] of order.entries()) {
          const inputs = args.map(inputOf)
          t.equal(difference(module.forward(...inputs), result), undefined, `call ${turn}`)
          for (const [i, input] of inputs.entries())
            t.equal(difference(input, after[i]!, `argument ${i}`), undefined, `argument ${i} after call ${turn}`)
        }
        for (const { args, error } of refused) {
          const refuse = (): unknown => module.forward(...args.map(inputOf))
          try {
            refuse()
            t.fail(`expected '${error}'`)
          } catch (found) {
            t.ok(found instanceof PtliteError && found.message.includes(error), `'${error}' in '${(found as Error).message}'`)
          }
        }
        module.dispose()
      })
    }
  }
}

t.test('off the event loop', async (t) => {
  for (const name of ['linear', 'control', 'structures']) {
    const module = await loadModule(fixturePath(`${name}.pt2`))
    for (const { args, result } of readCalls(name).calls)
      t.equal(difference(await module.run('forward', args.map(inputOf)), result), undefined)
    module.dispose()
  }
})

t.test('inputs and outputs as data', async (t) => {
  const { inputs, outputs, close } = loadModelFile(fixturePath('guarded.pt2'))
  t.strictSame(inputs, [
    {
      name: 'x',
      type: 'Tensor',
      dtype: 'float32',
      shape: [
        { text: 's77', min: 0, max: 20 },
        { text: 's27', min: 2, max: null },
      ],
    },
    {
      name: 'y',
      type: 'Tensor',
      dtype: 'float32',
      shape: [
        { text: '2*s77 + 1', min: 1, max: 41 },
        { text: 's27', min: 2, max: null },
      ],
    },
  ])
  t.strictSame(outputs?.[1]?.shape, [
    { text: 's77', min: 0, max: 20 },
    { text: '2', min: 2, max: 2 },
  ])
  close()
  const other = loadModelFile(fixturePath('structures.pt2'))
  t.strictSame(
    other.inputs?.map(({ name, constant }) => (constant === undefined ? name : [name, constant])),
    ['pair.left', 'pair.right', "batch['a'][0]", "batch['b']", 'more_0', 'more_1', 'scale', ['extra', null], ['times', 4], ['mode', 'sum']],
  )
  other.close()
})

t.test('lists are made with their own types, which PyTorch asks for', (t) => {
  for (const name of PROGRAMS) {
    for (const form of formsOf(name)) {
      const file = loadModelFile(fixturePath(`${name}.${form}`))
      for (const { code, types } of file.functions) {
        for (let at = 0; at < code.length; at += 3)
          if (code[at] === OPCODE_BY_NAME.get('LIST_CONSTRUCT')) t.match(types[code[at + 1]!], /^List\[/, `${name}.${form}`)
      }
      file.close()
    }
  }
  t.end()
})

t.test('weights are where the file is mapped, and what shares a record shares memory', async (t) => {
  const file = loadModelFile(fixturePath('shared.pt2'))
  const tensors = new Map(file.root.names.map((name, i) => [name, file.root.slots[i] as Tensor]))
  t.equal(tensors.get('table')!.storage, tensors.get('turned')!.storage)
  t.strictSame(tensors.get('turned')!.strides, [1, 4])
  t.equal(tensors.get('part')!.offset, 5)
  t.strictSame(tensors.get('ones')!.strides, [0, 1])
  file.close()
  const mapped = loadModelFile(fixturePath('linear.pt2'))
  const [weight] = mapped.root.slots as Tensor[]
  t.ok(Storage.keptBy(weight!.storage), 'no copy')
  mapped.close()
})

t.test("errors name the node, with Python's lines", async (t) => {
  const file = loadModelFile(fixturePath('linear.pt2'))
  const [fn] = file.functions
  const traces = Array.from({ length: fn!.code.length / 3 }, (_, pc) => file.debug!.stackTraceAt(fn!.name, pc))
  t.ok(traces.some((trace) => /make_pt2\.py", line \d+, in forward[^]*self\.conv\(x\)[^]*\(conv2d\)$/.test(trace ?? '')))
  t.equal(file.debug!.stackTraceAt('other', 0), undefined)
  file.close()
})

t.test('arguments that were constants may be left out', async (t) => {
  const module = await loadModule(fixturePath('structures.pt2'))
  const [call] = readCalls('structures').calls
  const args = call!.args.map(inputOf)
  t.equal(difference(module.forward(...args.slice(0, -3)), call!.result), undefined)
  t.throws(() => module.forward(...args.slice(0, 2)), { code: 'INVALID_ARGUMENT', message: /needs more_0: Tensor/ })
  module.dispose()
})

t.test('complex numbers where an operator has tensors', async (t) => {
  const factor = { as_complex: { real: 1, imag: 2 } }
  const [x, y, z] = ['x', 'y', 'z'].map((name) => tensorArgument(name)) as [Any, Any, Any]
  const mul = node('torch.ops.aten.mul.Tensor', [['self', x], ['other', factor]], [y]) // prettier-ignore
  const real = node('torch.ops.aten.view_as_real.default', [['self', y]], [z])
  for (const [number, dtype] of [
    [7, 'float32'],
    [8, 'float64'],
  ] as const) {
    const parts = { nodes: [mul, real], outputs: [z], tensors: { x: meta([2], number), y: meta([2], number + 3), z: meta([2, 2], number) } }
    const module = await loadModule(bytesOf(program(parts)))
    for (let call = 0; call < 3; call++) {
      const result = module.forward(tensor([1, 2], [2], dtype))
      t.equal(difference(result, { tensor: [1, 2, 2, 4], shape: [2, 2], dtype }), undefined, `${dtype}, call ${call}`)
    }
    module.dispose()
  }
})
