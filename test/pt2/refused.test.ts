import t from 'tap'
import { loadModule, tensor, type Tensor } from '../../src/index.js'
import {
  type Any,
  archiveOf,
  bytesOf,
  type Fields,
  graph,
  meta,
  node,
  program,
  type ProgramParts,
  recordsOf,
  tensorArgument,
} from './writer.js'

const x = tensorArgument('x')
const relu = (from = 'x', to = 'y', target = 'torch.ops.aten.relu.default'): Any =>
  node(target, [['self', tensorArgument(from)]], [tensorArgument(to)], to)
const of = (parts: ProgramParts): Uint8Array => bytesOf(program(parts))
const withFields = (fields: Fields): Uint8Array => bytesOf({ ...program(), ...fields })
const withModule = (fields: Fields): Uint8Array => {
  const whole = program()
  return bytesOf({ ...whole, graph_module: { ...(whole['graph_module'] as Fields), ...fields } })
}
const withRecords = (records: Readonly<Record<string, string>>): Uint8Array => archiveOf({ ...recordsOf(program()), ...records })
const higher = (name: string, inputs: Any[], outputs: Any[] = [tensorArgument('y')]): ProgramParts => ({
  nodes: [
    node(
      `torch.ops.higher_order.${name}`,
      inputs.map((input) => ['', input] as const),
      outputs,
    ),
  ],
  outputs: [tensorArgument('y')],
})
const cast = (dtype: number, body: Any): ProgramParts =>
  higher('wrap_with_autocast', [{ as_string: 'cpu' }, { as_scalar_type: dtype }, { as_bool: true }, { as_none: true }, asGraph(body), x])
/** What torch.func leaves in a graph. */
const mark = (name: string, inputs: Any[] = [], outputs: Any[] = [{ as_none: true }]): Any =>
  node(
    `torch._functorch.predispatch.${name}`,
    inputs.map((input) => ['', input] as const),
    outputs,
  )
/** A call of relu_ with copies of what it writes to. */
const functionalized = (
  inputs: readonly (readonly [string, Any])[],
  operator: Any = { as_operator: 'torch.ops.aten.relu_.default' },
): ProgramParts => ({
  nodes: [node('torch.ops.higher_order.auto_functionalized_v2', [['', operator], ...inputs], [{ as_none: true }, tensorArgument('y')])],
  outputs: [tensorArgument('y')],
})
const bases: readonly [string, Any] = ['_all_bases', { as_tensors: [{ name: 'x' }] }]
const asGraph = (inner: Any): Any => ({ as_graph: { name: 'inner', graph: inner } })
const nested = (levels: number): Any =>
  levels === 0 ? graph([x], [], [x]) : graph([x], [node('torch.ops.higher_order.wrap', [['', asGraph(nested(levels - 1))]], [])], [x])

const CASES: Readonly<Record<string, readonly [bytes: () => Uint8Array, code: string, message: RegExp]>> = {
  'a newer schema': [() => withFields({ schema_version: { major: 9, minor: 0 } }), 'UNSUPPORTED_FILE', /version 7 to 8.*found 9.*newer.*PyTorch 2\.14/],
  'an older schema': [() => withFields({ schema_version: { major: 5, minor: 0 } }), 'UNSUPPORTED_FILE', /found 5.*export it again/],
  'no schema': [() => withFields({ schema_version: null }), 'INVALID_FILE', /version of the schema/],
  'no JSON': [() => withRecords({ 'models/model.json': '{"a": ' }), 'INVALID_FILE', /JSON text is damaged/],
  'another archive version': [() => withRecords({ archive_version: '1' }), 'UNSUPPORTED_FILE', /version 0 of the archive, found '1'/],
  'another byte order': [() => withRecords({ byteorder: 'big' }), 'UNSUPPORTED_FILE', /little-endian/],
  'no program': [() => archiveOf({ archive_format: 'pt2', archive_version: '0' }), 'UNSUPPORTED_FILE', /no program/],
  'machine code': [() => archiveOf({ archive_format: 'pt2', 'data/aotinductor/model/a.so': 'ELF' }), 'UNSUPPORTED_FILE', /AOTInductor/],
  'an archive of PyTorch 2.5': [() => archiveOf({ 'serialized_exported_program.json': '{}', version: '7.1' }), 'UNSUPPORTED_FILE', /PyTorch 2\.7 or older/],
  'pickled weights': [() => withRecords({ 'data/weights/model.pt': '' }), 'UNSUPPORTED_FILE', /pickle of an older PyTorch/],
  'a name used before it is defined': [() => of({ nodes: [relu('y', 'z'), relu('x', 'y')] }), 'INVALID_FILE', /node 'z'.*uses 'y' before/],
  'a name that nothing defines': [() => of({ outputs: [tensorArgument('nothing')] }), 'INVALID_FILE', /uses 'nothing' before/],
  'a node that uses itself': [() => of({ nodes: [relu('y', 'y')] }), 'INVALID_FILE', /uses 'y' before/],
  'a name defined twice': [() => of({ nodes: [relu(), relu()] }), 'INVALID_FILE', /'y' is defined twice/],
  'an input defined again': [() => of({ nodes: [relu('x', 'x')] }), 'INVALID_FILE', /'x' is defined twice/],
  'an operator that is missing': [() => of({ nodes: [relu('x', 'y', 'torch.ops.mylib.twice.default')] }), 'MISSING_OPERATOR', /mylib::twice/],
  'a target that is no operator': [() => of({ nodes: [relu('x', 'y', 'os.system')] }), 'UNSUPPORTED_FILE', /os\.system.*not got/],
  'a tensor in the place of ints': [
    () => of({ nodes: [node('torch.ops.aten.view.default', [['self', x], ['size', x]], [tensorArgument('y')])] }), // prettier-ignore
    'INVALID_FILE',
    /argument 'size': expected SymInt\[\], found Tensor/,
  ],
  'a text in the place of a tensor': [
    () => of({ nodes: [node('torch.ops.aten.relu.default', [['self', { as_string: 'x' }]], [tensorArgument('y')])] }),
    'INVALID_FILE',
    /argument 'self': expected Tensor, found str/,
  ],
  'an argument too many': [
    () => of({ nodes: [node('torch.ops.aten.relu.default', [['self', x], ['more', x]], [tensorArgument('y')])] }), // prettier-ignore
    'INVALID_FILE',
    /'more' that the operator has not got/,
  ],
  'an argument twice': [
    () => of({ nodes: [node('torch.ops.aten.relu.default', [['self', x], ['self', x]], [tensorArgument('y')])] }), // prettier-ignore
    'INVALID_FILE',
    /'self' is there twice/,
  ],
  'an argument missing': [() => of({ nodes: [node('torch.ops.aten.relu.default', [], [tensorArgument('y')])] }), 'INVALID_FILE', /'self' is missing/],
  'more results than the operator has': [
    () => of({ nodes: [node('torch.ops.aten.relu.default', [['self', x]], [tensorArgument('y'), tensorArgument('z')])] }),
    'INVALID_FILE',
    /has 1 results, the node 2/,
  ],
  'an unknown scalar type': [
    () => of({ nodes: [node('torch.ops.aten.to.dtype', [['self', x], ['dtype', { as_scalar_type: 99 }]], [tensorArgument('y')])] }), // prettier-ignore
    'INVALID_FILE',
    /scalar type number 99 means nothing/,
  ],
  'an int of more than 64 bits': [
    () => withRecords({ 'models/model.json': JSON.stringify(program({ outputs: [{ as_int: 1 }] })).replaceAll('"as_int":1', '"as_int":99999999999999999999') }),
    'INVALID_FILE',
    /an integer, found 99999999999999999999/,
  ],
  'an argument of a newer kind': [() => of({ outputs: [{ as_tensor_list_of_lists: [] }] }), 'UNSUPPORTED_FILE', /'as_tensor_list_of_lists' is newer/],
  'an argument with two kinds': [() => of({ outputs: [{ as_int: 1, as_bool: true }] }), 'INVALID_FILE', /one field, found 2/],
  'an input that is not described': [() => of({ tensors: {} }), 'INVALID_FILE', /does not describe the input 'x'/],
  'an input with a sparse layout': [() => of({ tensors: { x: { ...(meta([2]) as Fields), layout: 1 } } }), 'UNSUPPORTED_FILE', /sparse/],
  'sizes without strides': [() => of({ tensors: { x: { ...(meta([2]) as Fields), strides: [] } } }), 'INVALID_FILE', /1 sizes and 0 strides/],
  'another signature than the graph': [() => withModule({ signature: { input_specs: [], output_specs: [] } }), 'INVALID_FILE', /other inputs or outputs/],
  'a parameter without values': [
    () => withModule({ signature: { input_specs: [{ parameter: { arg: { name: 'x' }, parameter_name: 'w' } }], output_specs: [{ user_output: { arg: x } }] } }),
    'INVALID_FILE',
    /no values of 'w'/,
  ],
  'an object of C++': [
    () => withModule({ signature: { input_specs: [{ custom_obj: { arg: { name: 'x', class_fqn: 'a.B' }, custom_obj_name: 'b' } }], output_specs: [{ user_output: { arg: x } }] } }),
    'UNSUPPORTED_FILE',
    /'b' is an object of the C\+\+ class a\.B/,
  ],
  'gradients': [
    () => withModule({ signature: { input_specs: [{ user_input: { arg: x } }], output_specs: [{ loss_output: { arg: { name: 'x' } } }] } }),
    'UNSUPPORTED_FILE',
    /gradients/,
  ],
  'a tree of other arguments': [
    () => withModule({ module_call_graph: [{ fqn: '', signature: { in_spec: tree(3), out_spec: tree(1), inputs: [], outputs: [] } }] }),
    'INVALID_FILE',
    /the arguments have 3 values, the graph takes 1/,
  ],
  'a tree of other results': [
    () => withModule({ module_call_graph: [{ fqn: '', signature: { in_spec: tree(1), out_spec: tree(2), inputs: [], outputs: [] } }] }),
    'INVALID_FILE',
    /the result has 2 values, the graph gives 1|no pair/,
  ],
  'an unknown higher-order operator': [() => of(higher('flex_attention', [x])), 'UNSUPPORTED_FILE', /'flex_attention' is one that this runtime has not got/],
  'autocast to integers': [() => of(cast(4, graph([x], [], [x]))), 'INVALID_FILE', /expected float16 or bfloat16/],
  'autocast of tensors that nothing describes': [
    () => of(cast(13, graph([x], [relu()], [tensorArgument('y')]))),
    'INVALID_FILE',
    /does not describe 'x', which torch.autocast may cast/,
  ],
  'a region of torch.vmap without end': [() => of({ nodes: [mark('_vmap_increment_nesting')] }), 'INVALID_FILE', /does not end/],
  'regions of torch.vmap in each other without end': [
    () => {
      const [rows, ends] = [mark('_add_batch_dim', [x, { as_int: 0 }, { as_int: 1 }], [tensorArgument('row')]), mark('_vmap_decrement_nesting')]
      const deep = Array.from({ length: 5000 }, () => [mark('_vmap_increment_nesting'), rows]).flat()
      return of({ nodes: [...deep, ...Array<Any>(5000).fill(ends)] })
    },
    'INVALID_FILE',
    /nested more than 100 deep/,
  ],
  'a region of torch.vmap without rows': [
    () => of({ nodes: [mark('_vmap_increment_nesting'), mark('_vmap_decrement_nesting')] }),
    'INVALID_FILE',
    /has no rows/,
  ],
  'what all rows of torch.vmap share': [
    () =>
      of({
        nodes: [
          mark('_vmap_increment_nesting'),
          mark('_add_batch_dim', [x, { as_int: 0 }, { as_int: 1 }], [tensorArgument('row')]),
          relu(),
          mark('_vmap_decrement_nesting'),
        ],
        outputs: [tensorArgument('y')],
      }),
    'UNSUPPORTED_FILE',
    /'y' is the same for all rows/,
  ],
  'rows of a dimension that is no number': [
    () =>
      of({
        nodes: [
          mark('_vmap_increment_nesting'),
          mark('_add_batch_dim', [x, { as_string: 'first' }, { as_int: 1 }], [tensorArgument('row')]),
          mark('_vmap_decrement_nesting'),
        ],
      }),
    'INVALID_FILE',
    /expected the number of a dimension/,
  ],
  'another transform': [() => of({ nodes: [mark('_jvp_increment_nesting')] }), 'UNSUPPORTED_FILE', /run_decompositions/],
  'a functionalized call of no operator': [() => of(functionalized([bases], x)), 'INVALID_FILE', /expected an operator as first argument/],
  'a functionalized call without bases': [() => of(functionalized([['_self_base_index', { as_int: 0 }]])), 'INVALID_FILE', /expected a list of tensors/],
  'a view of no base': [() => of(functionalized([['_self_base_index', { as_int: 1 }], bases])), 'INVALID_FILE', /'self' is of no tensor/],
  'a base that is no number': [() => of(functionalized([['_self_base_index', { as_int: -1 }], bases])), 'INVALID_FILE', /expected a count or the number/],
  'a list of too many views': [() => of(functionalized([['_self_length', { as_int: 1000000000 }], bases])), 'INVALID_FILE', /'self' says it has 1000000000/],
  'a base that is no tensor': [
    () => of(functionalized([['_self_base_index', { as_int: 0 }], ['_all_bases', { as_ints: [1] }]])),
    'INVALID_FILE',
    /expected a tensor that is written to/,
  ],
  'cond without graphs': [() => of(higher('cond', [x, x, x])), 'INVALID_FILE', /expected a graph as argument 1/],
  'cond with graphs of other inputs': [
    () => of(higher('cond', [{ as_bool: true }, asGraph(graph([], [], [x])), asGraph(graph([x], [], [x])), { as_tensors: [{ name: 'x' }] }])),
    'INVALID_FILE',
    /1 values|0 values/,
  ],
  'a graph that uses names around it': [
    () => of(higher('wrap', [asGraph(graph([], [], [x]))])),
    'INVALID_FILE',
    /uses 'x' before/,
  ],
  'graphs nested too deep': [() => of({ nodes: [node('torch.ops.higher_order.wrap', [['', asGraph(nested(150))]], [])] }), 'INVALID_FILE', /nested more than/],
  'a loop over nothing': [() => of(higher('map_impl', [asGraph(graph([], [], [])), { as_tensors: [] }, { as_tensors: [] }], [])), 'INVALID_FILE', /loop over nothing/],
  'a scan of nothing': [() => of(higher('associative_scan', [asGraph(graph([], [], [])), { as_tensors: [] }, { as_tensors: [] }], [])), 'INVALID_FILE', /loop over nothing/],
  'a scan with other results than rows': [
    () => of(higher('associative_scan', [asGraph(graph([x], [], [])), { as_tensors: [{ name: 'x' }] }, { as_tensors: [] }])),
    'INVALID_FILE',
    /0 values where 1 are expected/,
  ],
  'out_dtype without a dtype': [() => of(higher('out_dtype', [{ as_operator: 'torch.ops.aten.neg.default' }, x])), 'INVALID_FILE', /expected an operator, a dtype and one result/],
  'out_dtype of no operator': [() => of(higher('out_dtype', [x, { as_scalar_type: 7 }, x])), 'INVALID_FILE', /expected an operator, a dtype and one result/],
  'print of no text': [() => of(higher('print', [x], [])), 'INVALID_FILE', /expected a format string/],
  'print of values that are not there': [() => of(higher('print', [{ as_string: '{} {1}' }, x], [])), 'INVALID_FILE', /nothing to print for '\{1\}'/],
  'print of names that are not there': [() => of(higher('print', [{ as_string: '{constructor}' }, x], [])), 'INVALID_FILE', /nothing to print for '\{constructor\}'/],
} // prettier-ignore

/** (args, kwargs) of so many values, or as many results. */
function tree(count: number): string {
  const leaf = { type: null, context: null, children_spec: [] }
  const leaves = Array.from({ length: count }, () => leaf)
  const tuple = (children: unknown[]): unknown => ({ type: 'builtins.tuple', context: 'null', children_spec: children })
  return JSON.stringify([1, tuple([tuple(leaves), { type: 'builtins.dict', context: '[]', children_spec: [] }])])
}

for (const [what, [bytes, code, message]] of Object.entries(CASES))
  t.test(what, async (t) => {
    await t.rejects(loadModule(bytes()), { code, message })
  })

t.test('the program that these are changed from is whole', async (t) => {
  const module = await loadModule(of({ nodes: [relu()], outputs: [tensorArgument('y')] }))
  t.strictSame([...((module.forward(tensor([-1, 2], [2])) as Tensor).data() as Float32Array)], [0, 2])
  module.dispose()
})
