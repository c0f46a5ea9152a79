import { damaged, guarded, unsupported } from '../../program/file-error.js'
import type { FunctionCode } from '../../program/code.js'
import { Float } from '../../runtime/tensor/scalar.js'
import type { FilePart } from '../containers/file-part.js'
import type { FlatTable } from '../containers/flatbuffer/reader.js'
import { putTogether } from '../exported/arguments.js'
import { CodeBuilder } from '../exported/code-builder.js'
import { leavesOf } from '../exported/tree.js'
import type { ValueBudget } from '../containers/value-budget.js'
import type { Attributes } from './attributes.js'
import { argumentsOf } from './method-arguments.js'
import type { Plan } from './plan.js'
import { BundledKind, Field } from './schema.js'

const SELF = 1

/**
 * The test cases of a bundled program as methods that give them: PyTorch's `get_all_bundled_inputs`, and `get_all_bundled_inputs_for_NAME` of other methods than `forward`,
 * a tuple of arguments for each case; and the same of `outputs`, whose results are lists of what the method gives, without structure.
 */
export function testCaseMethods(
  suites: readonly FlatTable[],
  file: FilePart,
  plans: readonly Plan[],
  className: string,
  attributes: Attributes,
  budget: ValueBudget,
): FunctionCode[] {
  return suites.flatMap((suite) => {
    const name = suite.text(Field.suite.method)
    const plan = plans.find((one) => one.name === name)
    const cases = suite.tables(Field.suite.cases)
    if (plan === undefined || cases.length === 0) return []
    return guarded(`test cases of '${name}'`, () => {
      const suffix = name === 'forward' ? '' : `_for_${name}`
      const writer = new CaseWriter(file, attributes, `${name} test`)
      const finish = (what: string, write: (table: FlatTable) => void): FunctionCode => {
        const { builder } = writer.begin()
        for (const table of cases) write(table)
        builder.emit('LIST_CONSTRUCT', builder.type('Any'), cases.length)
        builder.emit('RET')
        const self = { name: 'self', type: className, default: undefined }
        return builder.finish(className, `get_all_bundled_${what}${suffix}`, { args: [self], returns: [{ type: 'Any' }] })
      }
      const args = argumentsOf(plan, budget)
      return [
        finish('inputs', (table) => {
          const values = table.tables(Field.testCase.inputs)
          const count = args.reduce((sum, { tree }) => sum + leavesOf(tree), 0)
          if (values.length !== count) throw damaged(`a test case has ${values.length} inputs, the method takes ${count}`)
          let next = 0
          for (const { tree } of args) putTogether(tree, writer.builder, () => writer.push(values[next++]!))
          writer.builder.emit('TUPLE_CONSTRUCT', args.length)
        }),
        finish('outputs', (table) => {
          const values = table.tables(Field.testCase.outputs)
          for (const value of values) writer.push(value)
          writer.builder.emit('LIST_CONSTRUCT', writer.builder.type('Any'), values.length)
        }),
      ]
    })
  })
}

class CaseWriter {
  builder = new CodeBuilder()
  private count = 0

  constructor(
    private readonly file: FilePart,
    private readonly attributes: Attributes,
    private readonly name: string,
  ) {}

  begin(): this {
    this.builder = new CodeBuilder()
    this.builder.emit('STORE', SELF)
    return this
  }

  push(table: FlatTable): void {
    const { builder } = this
    const kind = table.uint8(Field.value.kind)
    const member = table.table(Field.value.value)
    if (kind === 0) return builder.constant(null)
    if (member === null) throw damaged('a value of a test case is empty')
    const { value } = Field.single
    switch (kind) {
      case BundledKind.tensor:
        return this.pushTensor(member)
      case BundledKind.int:
        return builder.constant(member.int64(value))
      case BundledKind.bool:
        return builder.constant(member.uint8(value) !== 0)
      case BundledKind.double:
        return builder.constant(new Float(member.float64(value)))
      default:
        throw unsupported(`a test case has a value of kind ${kind}, which is newer than this runtime`)
    }
  }

  private pushTensor(table: FlatTable): void {
    const { builder } = this
    const field = Field.bundledTensor
    const { start, length } = table.vector(field.data, 1)
    const sizes = table.int32s(field.sizes)
    const dimOrder = table.list(field.dimOrder, 1, (at) => table.reader.uint8(at))
    if (new Set(dimOrder).size !== sizes.length || !dimOrder.every((dim) => dim < sizes.length) || !sizes.every((size) => size >= 0))
      throw damaged(`a test case has a tensor of the sizes [${sizes.join(', ')}] in the order [${dimOrder.join(', ')}]`)
    const form = { scalarType: table.int8(field.scalarType), sizes, dimOrder, isDynamic: false }
    const name = `${this.name}_${this.count++}`.replaceAll(' ', '_')
    builder.emit('LOAD', SELF)
    builder.emit('GET_ATTR', this.attributes.constant(name, name, form, this.file.part(start, length)))
    // whoever gets it may write to it
    builder.operator('aten::clone', 1)
  }
}
