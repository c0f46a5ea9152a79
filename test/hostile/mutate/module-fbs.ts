import { OPCODES } from '../../../program/opcodes.js'
import { Field } from '../../../formats/ff/schema.js'
import type { Random } from '../random.js'
import type { KnownOperator } from './bytecode.js'
import type { FlatChange, FlatFormat } from './flat.js'
import { bytesOf, type FlatTableNode, nodesOf, TEXT, tableOf, vectorOf } from './flat-tree.js'

const [u8, u32, f64] = [bytesOf(1), bytesOf(4), bytesOf(8)]

/** The tables of module.fbs. */
export const MODULE_FORMAT: FlatFormat = {
  root: 'Module',
  identifier: 'PTMF',
  schema: {
    Module: [
      u32, vectorOf(tableOf('ExtraFile')), vectorOf(u32), u32, vectorOf(tableOf('IValue')), u32, vectorOf(tableOf('StorageData')), vectorOf(tableOf('ObjectType')),
      vectorOf(tableOf('ExtraFile')), u32, u32, u32,
    ], // prettier-ignore
    ExtraFile: [TEXT, TEXT],
    IValue: [
      u8,
      {
        kind: 'union',
        members: [
          bytesOf(1), bytesOf(8), bytesOf(1), bytesOf(8), bytesOf(16), tableOf('TensorMetadata'), tableOf('Text'), tableOf('List'), tableOf('Tuple'), tableOf('Dict'),
          tableOf('Object'), tableOf('IntList'), tableOf('IntList'), tableOf('BoolList'), tableOf('Text'), tableOf('EnumValue'), tableOf('Function'),
        ],
      },
    ], // prettier-ignore
    StorageData: [vectorOf(u8)],
    ObjectType: [TEXT, u8, vectorOf(TEXT)],
    TensorMetadata: [u32, u8, u32, vectorOf(u32), vectorOf(u32), u8, tableOf('Quantization')],
    Quantization: [u8, f64, u32, tableOf('TensorMetadata'), tableOf('TensorMetadata'), u32],
    Text: [TEXT],
    List: [vectorOf(u32), TEXT],
    Tuple: [vectorOf(u32), TEXT],
    Dict: [vectorOf(u32), vectorOf(u32), TEXT],
    IntList: [vectorOf(f64)],
    BoolList: [vectorOf(u8)],
    Object: [u32, u32, vectorOf(u32), u32],
    EnumValue: [TEXT, u32],
    Function: [
      TEXT,
      vectorOf(bytesOf(8)),
      vectorOf(tableOf('Operator')),
      vectorOf(u32),
      vectorOf(TEXT),
      u32,
      tableOf('Schema'),
      tableOf('Debug'),
    ],
    Operator: [TEXT, TEXT, u32],
    Schema: [vectorOf(tableOf('Argument')), vectorOf(tableOf('Argument'))],
    Argument: [TEXT, TEXT, u32],
    Debug: [vectorOf(f64)],
  },
}

const RUNNING = OPCODES.filter(({ runs }) => runs).map(({ code }) => code)

/** Changes to the functions of a module. */
export function moduleChanges(operators: readonly KnownOperator[]): readonly FlatChange[] {
  const functionsOf = (root: FlatTableNode): FlatTableNode[] =>
    nodesOf(root).filter((node): node is FlatTableNode => node.type.kind === 'table' && node.type.name === 'Function')
  return [
    (root, random) => {
      const functions = functionsOf(root)
      const code = functions.length === 0 ? undefined : random.pick(functions).fields[Field.function.instructions]
      if (code === undefined || code === null || !('bytes' in code) || code.bytes === null || code.bytes.length < 8) return false
      changeInstruction(code.bytes.subarray(8 * random.below(Math.floor(code.bytes.length / 8))), random)
      return true
    },
    (root, random) => {
      const calls = nodesOf(root).filter((node): node is FlatTableNode => node.type.kind === 'table' && node.type.name === 'Operator')
      if (calls.length === 0) return false
      const other = random.pick(random.once(8) ? operators : operators.filter(({ returns }) => returns === 1))
      const call = random.pick(calls)
      call.fields[0] = { type: { kind: 'text' }, bytes: Buffer.from(other.name) }
      call.fields[1] = { type: { kind: 'text' }, bytes: Buffer.from(other.overload) }
      if (random.once(3)) call.fields[2] = null
      return true
    },
  ]
}

/** op: int8, a gap, n: uint16, x: int32 */
function changeInstruction(at: Buffer, random: Random): void {
  switch (random.below(4)) {
    case 0:
      at[0] = random.once(8) ? random.below(256) : random.pick(RUNNING)
      break
    case 1:
      at.writeUInt16LE(random.edge() & 0xffff, 2)
      break
    default:
      at.writeInt32LE(random.once(2) ? random.below(12) : random.edge(at.readInt32LE(4)) | 0, 4)
  }
}
