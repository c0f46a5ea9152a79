import t from 'tap'
import type { FunctionCode } from '../../program/code.js'
import { loadModelFile } from '../../formats/read.js'
import { Float } from '../../runtime/tensor/scalar.js'
import { isPerChannel, Tensor } from '../../runtime/tensor/tensor.js'
import { CustomObject, ScriptObject, Tuple, type Value } from '../../runtime/tensor/value.js'
import { attribute, fixturePath, load, numbers } from './fixtures.js'

for (const name of ['state.ptl', 'state.ff']) {
  t.test(`${name}: __setstate__ runs on an empty object, after all functions are known`, (t) => {
    const events: string[] = []
    let all: readonly FunctionCode[] = []
    const file = loadModelFile(fixturePath(name), {
      onFunctions: (functions, operatorVersion) => {
        events.push('functions')
        all = functions
        t.equal(operatorVersion >= 1, true)
      },
      runSetState: (setState, object, state) => {
        events.push(setState.name)
        t.ok(all.includes(setState))
        t.equal(object.slots.length, 0)
        if (!(state instanceof Tuple)) throw new Error('the state is what __getstate__ returned')
        t.equal(state.items[0], 3)
        t.same(numbers(state.items[1] as Tensor), [2, 2, 2, 2])
        object.names.push('factor')
        object.slots.push(state.items[0]!)
      },
    })
    t.same(events, ['functions', '__torch__.State.__setstate__'])
    const inner = attribute(file.root, 'inner')
    t.ok(inner instanceof ScriptObject && attribute(inner, 'factor') === 3)
    file.close()
    t.end()
  })
}

/** All custom objects below a value. */
function customObjects(value: Value, found: CustomObject[] = []): CustomObject[] {
  if (value instanceof CustomObject) found.push(value)
  if (value instanceof ScriptObject) for (const slot of value.slots) customObjects(slot, found)
  if (value instanceof Tuple) for (const item of value.items) customObjects(item, found)
  if (Array.isArray(value)) for (const item of value) customObjects(item, found)
  return found
}

for (const name of ['quantized.ptl', 'quantized.ff']) {
  t.test(`${name}: quantized weights`, (t) => {
    const states: Value[] = []
    const file = loadModelFile(fixturePath(name), { runSetState: (_fn, _object, state) => states.push(state) })
    const weights: Tensor[] = []
    for (const state of states) {
      if (state instanceof Tuple) for (const item of state.items) if (item instanceof Tensor && item.isQuantized) weights.push(item)
    }
    const conv = weights.find((weight) => weight.dim === 4)
    t.ok(conv, 'Conv2d has its weight in its state')
    t.equal(conv!.dtype, 'qint8')
    t.ok(isPerChannel(conv!.quant!))
    if (isPerChannel(conv!.quant!)) {
      t.equal(conv!.quant.axis, 0)
      t.equal(conv!.quant.scales.length, 3)
      t.ok(conv!.quant.scales.every((scale) => scale > 0 && scale < 1))
      t.same(conv!.quant.zeroPoints, [0, 0, 0])
    }
    const packed = [...states, file.root]
      .flatMap((state) => customObjects(state))
      .find((o) => o.className === 'quantized.LinearPackedParamsBase')
    t.ok(packed, 'Linear has a packed object')
    t.ok(packed!.state instanceof Tuple && packed!.state.items.length === 2)
    file.close()
    t.end()
  })
}

for (const name of ['packed.ptl', 'packed.ff']) {
  t.test(`${name}: prepacked operators among the constants`, (t) => {
    const file = load(name)
    const constants = file.functions.flatMap((fn) => fn.constants.flatMap((value) => customObjects(value)))
    const roots = customObjects(file.root)
    const byClass = new Map([...constants, ...roots].map((object) => [object.className, object]))
    const conv = byClass.get('xnnpack.Conv2dOpContext')?.state
    if (!(conv instanceof Tuple)) throw new Error('no convolution')
    const [weight, bias, stride, padding, dilation, groups, min, max] = conv.items
    t.same((weight as Tensor).shape, [3, 2, 3, 3])
    t.same((bias as Tensor).shape, [3])
    t.same([stride, padding, dilation, groups], [[2, 2], [1, 1], [1, 1], 1])
    t.ok(Number(min) === 0 && (min === 0 || min instanceof Float), 'relu is fused')
    t.ok(max === null || max instanceof Float)
    t.ok(byClass.has('xnnpack.LinearOpContext'))
    file.close()
    t.end()
  })
}
