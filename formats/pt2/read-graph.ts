import { Complex, Float } from '../../runtime/tensor/scalar.js'
import { Device } from '../../runtime/tensor/value.js'
import { layoutOf, memoryFormatOf, scalarTypeOf } from './enums.js'
import { type Argument, type Graph, type GraphNode, MAX_GRAPHS, type NodeInput, type ScalarKind } from './graph.js'
import { damaged, guarded, unsupported } from '../../program/file-error.js'
import { Deferred, type Json } from '../exported/json.js'
import { withMaps } from './vmap.js'
import { booleanOf, countOf, floatOf, integerOf, listOf, objectOf, textOf, unexpectedJson, variantOf } from '../exported/json-values.js'

/** Fields of graphs that are passed over until something asks for them: they are most of a file. */
export const DEFERRED_FIELDS: ReadonlySet<string> = new Set([
  'metadata',
  'tensor_values',
  'sym_int_values',
  'sym_bool_values',
  'sym_float_values',
  'custom_obj_values',
])

/** A graph with the graphs in it. Throws INVALID_FILE naming the node, UNSUPPORTED_FILE for arguments of kinds that newer writers have. */
export function readGraph(json: Json | undefined, depth = 0): Graph {
  if (depth > MAX_GRAPHS) throw damaged(`graphs are nested more than ${MAX_GRAPHS} deep`)
  const fields = objectOf(json, 'a graph')
  const place = (name: string): Deferred | null => {
    const value = fields.get(name)
    return value instanceof Deferred ? value : null
  }
  const graph: Graph = {
    inputs: listOf(fields.get('inputs'), 'the inputs of a graph').map((item) => readArgument(item, depth)),
    outputs: listOf(fields.get('outputs'), 'the outputs of a graph').map((item) => readArgument(item, depth)),
    nodes: listOf(fields.get('nodes'), 'the nodes of a graph').map((item, i) => guarded(`node ${i}`, () => readNode(item, depth))),
    tensors: place('tensor_values'),
    symbols: place('sym_int_values'),
  }
  return withMaps(graph, depth)
}

function readNode(json: Json, depth: number): GraphNode {
  const fields = objectOf(json, 'a node')
  const target = textOf(fields.get('target'), 'the target of a node')
  return guarded(target, () => {
    const inputs = listOf(fields.get('inputs')).map((item): NodeInput => {
      const input = objectOf(item)
      const name = textOf(input.get('name'))
      return { name, argument: guarded(`argument '${name}'`, () => readArgument(input.get('arg'), depth)) }
    })
    const outputs = listOf(fields.get('outputs')).map((item) => readArgument(item, depth))
    const metadata = fields.get('metadata')
    const name = fields.get('name')
    return {
      target,
      name: typeof name === 'string' ? name : target,
      inputs,
      outputs,
      metadata: metadata instanceof Deferred ? metadata : null,
    }
  })
}

const NONE: Argument = { kind: 'none' }

const constant = (type: ScalarKind | 'str', value: Json | undefined): Argument => {
  switch (type) {
    case 'int':
      return { kind: 'constant', type, value: integerOf(value) }
    case 'float':
      return { kind: 'constant', type, value: new Float(floatOf(value)) }
    case 'bool':
      return { kind: 'constant', type, value: booleanOf(value) }
    case 'str':
      return { kind: 'constant', type, value: textOf(value) }
  }
}

const tensor = (value: Json | undefined): Argument => ({
  kind: 'tensor',
  name: textOf(objectOf(value).get('name'), 'the name of a tensor'),
})

const symbol =
  (type: ScalarKind) =>
  (value: Json | undefined): Argument => {
    const [field, item] = variantOf(value, `a symbolic ${type}`)
    return field === 'as_name' ? { kind: 'symbol', name: textOf(item), type } : constant(type, item)
  }

const optionalTensor = (value: Json | undefined): Argument => {
  const [field, item] = variantOf(value, 'a tensor or nothing')
  return field === 'as_none' ? NONE : tensor(item)
}

const list =
  (element: (value: Json) => Argument) =>
  (value: Json | undefined): Argument => ({ kind: 'list', items: listOf(value).map(element) })

type Reader = (value: Json, depth: number) => Argument

/** By field of the schema's union. */
const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['as_none', () => NONE],
  ['as_tensor', tensor],
  ['as_tensors', list(tensor)],
  ['as_nested_tensors', list(list(tensor))],
  ['as_optional_tensor', optionalTensor],
  ['as_optional_tensors', list(optionalTensor)],
  ['as_int', (value) => constant('int', value)],
  ['as_ints', list((value) => constant('int', value))],
  ['as_int_lists', list(list((value) => constant('int', value)))],
  ['as_float', (value) => constant('float', value)],
  ['as_floats', list((value) => constant('float', value))],
  ['as_float_lists', list(list((value) => constant('float', value)))],
  ['as_bool', (value) => constant('bool', value)],
  ['as_bools', list((value) => constant('bool', value))],
  ['as_string', (value) => constant('str', value)],
  ['as_strings', list((value) => constant('str', value))],
  ['as_complex', (value) => ({ kind: 'constant', type: 'complex', value: complexOf(value) })],
  ['as_sym_int', symbol('int')],
  ['as_sym_ints', list(symbol('int'))],
  ['as_sym_float', symbol('float')],
  ['as_sym_floats', list(symbol('float'))],
  ['as_sym_bool', symbol('bool')],
  ['as_sym_bools', list(symbol('bool'))],
  ['as_scalar_type', (value) => ({ kind: 'enum', type: 'ScalarType', value: scalarTypeOf(countOf(value)) })],
  ['as_memory_format', (value) => ({ kind: 'enum', type: 'MemoryFormat', value: memoryFormatOf(countOf(value)) })],
  ['as_layout', (value) => ({ kind: 'enum', type: 'Layout', value: layoutOf(countOf(value)) })],
  ['as_device', (value) => ({ kind: 'constant', type: 'Device', value: deviceOf(value) })],
  ['as_operator', (value) => ({ kind: 'operator', name: textOf(value) })],
  ['as_graph', graphOf],
  ['as_custom_obj', objectArgument],
  ['as_string_to_argument', dictOf],
])

export function readArgument(json: Json | undefined, depth: number): Argument {
  const [field, value] = variantOf(json, 'an argument')
  const read = READERS.get(field)
  if (read === undefined)
    throw unsupported(`an argument of the kind '${field.slice(0, 60)}' is newer than this runtime; export with PyTorch 2.14 or older`)
  return read(value, depth)
}

function graphOf(value: Json, depth: number): Argument {
  const fields = objectOf(value)
  const name = textOf(fields.get('name'))
  return { kind: 'graph', name, graph: guarded(`graph ${name}`, () => readGraph(fields.get('graph'), depth + 1)) }
}

function objectArgument(value: Json): Argument {
  const fields = objectOf(value)
  return { kind: 'object', name: textOf(fields.get('name')), className: textOf(fields.get('class_fqn')) }
}

function dictOf(value: Json, depth: number): Argument {
  return { kind: 'dict', entries: [...objectOf(value)].map(([key, item]) => [key, readArgument(item, depth)] as const) }
}

function complexOf(value: Json): Complex {
  const fields = objectOf(value)
  return new Complex(floatOf(fields.get('real')), floatOf(fields.get('imag')))
}

function deviceOf(value: Json): Device {
  const fields = objectOf(value)
  const type = textOf(fields.get('type'))
  if (!/^[a-z]{1,20}$/.test(type)) throw unexpectedJson('the type of a device', type)
  const index = fields.get('index') ?? null
  return new Device(type, index === null ? null : countOf(index, 'the index of a device', -1, 9999))
}
