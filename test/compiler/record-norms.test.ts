import t from 'tap'
import { recorderOf } from '../../compiler/record/recorder.js'
import { optimize } from '../../compiler/passes/pipeline.js'
import type { FunctionCode } from '../../program/code.js'
import { linkFunctions } from '../../program/link.js'
import { OPCODE_BY_NAME } from '../../program/opcodes.js'
import { runFunction } from '../../interpreter/run.js'
import { Float } from '../../runtime/tensor/scalar.js'
import type { Tensor } from '../../runtime/tensor/tensor.js'
import { ScriptObject, type Value } from '../../runtime/tensor/value.js'
import { tensor } from '../../src/index.js'
import { programOf } from '../interpreter/assemble.js'
import { operators } from './pass-checks.js'

/** aten::_native_batch_norm_legit of the input with constant statistics, and its first result. */
function normOf(training: boolean): FunctionCode {
  const constants: Value[] = [null, null, tensor([0.5, -1, 2], [3]), tensor([0.5, 1, 1.5], [3]), training, new Float(0.1), new Float(1e-5)]
  const code: number[] = []
  const emit = (name: string, x = 0, n = 0): void => void code.push(OPCODE_BY_NAME.get(name)!, x, n)
  emit('STOREN', 1, 2)
  emit('LOAD', 2)
  constants.forEach((_, i) => emit('LOADC', i))
  emit('OP', 0)
  emit('DROP')
  emit('DROP')
  emit('RET')
  return {
    name: '__torch__.M.forward',
    method: 'forward',
    className: '__torch__.M',
    code: Int32Array.from(code),
    operators: [{ name: 'aten::_native_batch_norm_legit', overload: '', argCount: 8 }],
    constants,
    types: [],
    registerSize: 4,
    schema: null,
  }
}

t.test('a batch norm that could write its statistics does so in training alone', (t) => {
  for (const training of [false, true]) {
    const [fn] = linkFunctions([normOf(training)], 10, new Map())
    const root = new ScriptObject('__torch__.M', [], [])
    const program = { ...programOf(fn!), root }
    const inputs = [tensor([1, 2, 3, 4, 5, 6], [2, 3])]
    const recorder = recorderOf(program, root, inputs, inputs)
    const recording = recorder.finish(runFunction(fn!, [root, ...inputs], program, { recorder }) as Tensor)
    if (training) t.match(recording, { reason: /_native_batch_norm_legit writes/ })
    else if ('graph' in recording) {
      const ops = operators(optimize(recording.graph))
      t.strictSame(ops, ['ptlite::fused'])
    } else t.fail(JSON.stringify(recording))
  }
  t.end()
})
