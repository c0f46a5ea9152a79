import { readFileSync } from 'node:fs'
import { ByteSource } from '../../formats/containers/bytes.js'
import { ZipArchive } from '../../formats/containers/zip/archive.js'
import { zip } from '../module/zip-writer.js'
import { fixturePath } from './fixtures.js'

/** A JSON value that tests change. */
export type Any = null | boolean | number | string | Any[] | { [key: string]: Any }
export type Fields = { [key: string]: Any }

export const tensorArgument = (name: string): Any => ({ as_tensor: { name } })
export const symbolArgument = (name: string, type = 'int'): Any => ({ [`as_sym_${type}`]: { as_name: name } })

/** A node with inputs by their schema's names. */
export function node(target: string, inputs: readonly (readonly [name: string, argument: Any])[], outputs: Any[], name = 'node'): Any {
  return {
    target,
    name,
    inputs: inputs.map(([input, arg]) => ({ name: input, arg, kind: 1 })),
    outputs,
    metadata: {},
    is_hop_single_tensor_return: null,
  }
}

const size = (value: number | string): Any => (typeof value === 'number' ? { as_int: value } : { as_expr: { expr_str: value, hint: null } })

export function meta(sizes: readonly (number | string)[], dtype = 7): Any {
  return {
    dtype,
    sizes: sizes.map(size),
    strides: sizes.map((_, i) => size(i === sizes.length - 1 ? 1 : 4)),
    storage_offset: { as_int: 0 },
    layout: 7,
    requires_grad: false,
    device: { type: 'cpu', index: null },
  }
}

export function graph(inputs: Any[], nodes: Any[], outputs: Any[], tensors: Fields = {}): Any {
  return {
    inputs,
    outputs,
    nodes,
    tensor_values: tensors,
    sym_int_values: {},
    sym_bool_values: {},
    sym_float_values: {},
    custom_obj_values: {},
    is_single_tensor_return: false,
  }
}

export interface ProgramParts {
  readonly inputs?: Any[]
  readonly nodes?: Any[]
  readonly outputs?: Any[]
  readonly tensors?: Fields
}

/** A program of tensors and ints that are arguments, without state. By default `x` of two elements, which it returns. */
export function program({
  inputs = [tensorArgument('x')],
  nodes = [],
  outputs = [tensorArgument('x')],
  tensors = { x: meta([2]) },
}: ProgramParts = {}): Fields {
  return {
    graph_module: {
      graph: graph(inputs, nodes, outputs, tensors),
      signature: {
        input_specs: inputs.map((arg) => ({ user_input: { arg } })),
        output_specs: outputs.map((arg) => ({ user_output: { arg } })),
      },
      module_call_graph: [],
      metadata: {},
      treespec_namedtuple_fields: {},
    },
    opset_version: { aten: 10 },
    range_constraints: {},
    schema_version: { major: 8, minor: 20 },
    verifiers: [],
    torch_version: '2.13.0',
    guards_code: [],
  }
}

const EMPTY = JSON.stringify({ config: {} })

/** The records around a program. */
export function recordsOf(json: unknown): Record<string, string> {
  return {
    'models/model.json': JSON.stringify(json),
    'data/weights/model_weights_config.json': EMPTY,
    'data/constants/model_constants_config.json': EMPTY,
    archive_format: 'pt2',
    archive_version: '0',
    byteorder: 'little',
  }
}

export function archiveOf(records: Readonly<Record<string, string | Uint8Array>>): Uint8Array {
  return zip(
    Object.entries(records).map(([name, data]) => ({ name: `net/${name}`, data: typeof data === 'string' ? Buffer.from(data) : data })),
  )
}

export function bytesOf(json: unknown): Uint8Array {
  return archiveOf(recordsOf(json))
}

/** The records of a fixture. */
export function recordsIn(name: string): Record<string, Uint8Array> {
  const archive = new ZipArchive(new ByteSource(name, readFileSync(fixturePath(name))))
  return Object.fromEntries(archive.recordNames().map((record) => [record, Uint8Array.from(archive.contentOf(record))]))
}
