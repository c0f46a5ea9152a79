/**
 * How dist/index.js is divided into chunks, each of which is a set of files. `import 'ptlite'` loads the chunk 'runtime'; each other one is a file
 * that is loaded when a function in it is first called. A file belongs to the first chunk that names it; `*` is any text. What no chunk names is in
 * 'runtime'. Files that usual programs (usual-programs.mjs) never come to are in chunks of their own, whose names end in `-rare`.
 */
export interface Part {
  readonly name: string
  readonly files: readonly string[]
  /** Parts that are loaded together with this one, as it uses more of them than single functions. */
  readonly needs: readonly string[]
}

const within =
  (folder: string) =>
  (...names: string[]): string[] =>
    names.map((name) => `${folder}/${name}.ts`)
const cpu = within('runtime/operators/cpu')
const support = (...names: string[]): string[] =>
  ['runtime/operators/support', 'runtime/operators/cpu/support'].flatMap((folder) => within(folder)(...names))
const shapes = within('runtime/shapes')
const composite = within('runtime/operators/composite')
const builtin = within('runtime/operators/builtin')
const writers = within('runtime/native/generated/kernels')
const compiler = within('compiler')
const tensor = within('runtime/tensor')
const operators = within('runtime/operators/table')

/** Native functions by family: the files that usual programs come to, and those that are apart from them. They call each other as operators. */
const FAMILIES: readonly (readonly [name: string, files: readonly string[], rare: readonly string[]])[] = [
  [
    'pointwise',
    [
      ...cpu('activation', 'binary', 'clamp', 'comparison', 'ternary', 'unary'),
      ...composite('activation', 'dropout', 'pointwise'),
      ...support('binary', 'unary', 'limits'),
    ],
    [
      ...cpu('soft-activation', 'binary-functions', 'division', 'clamp-tensor', 'complex-*', 'fill-copy', 'float-parts', 'interpolation'),
      ...cpu('logical', 'special', 'trigonometric', 'incomplete-gamma'),
      ...composite('alpha-dropout', 'closeness'),
      ...support('truth', 'scaled-sum'),
      ...writers('complex', 'gamma', 'truth', 'equal'),
    ],
  ],
  [
    // operators that only the compiler writes
    'compiled-layers',
    [
      ...cpu('blocked*', 'compiled', 'sparse-product'),
      ...support('blocked*', 'sparse-weight'),
      ...shapes('blocks', 'tiles', 'sparse-steps'),
      ...writers('blocked*', 'fused', 'post_ops', 'sparse'),
    ],
    [],
  ],
  [
    'layers',
    [
      ...cpu('convolution', 'matmul', 'norm', 'pooling'),
      ...composite('pooling'),
      ...support('batch-norm', 'conv', 'conv-geometry', 'product-places', 'packed-weight', 'pool', 'product', 'lasting'),
      ...shapes('attention', 'convolution', 'post-ops'),
      ...writers('conv', 'gemm', 'norm', 'pool'),
    ],
    [
      ...cpu('batch-statistics', 'convolution-forms', 'fractional-pool', 'group-norm', 'im2col', 'matrix-sums', 'pooling-1d-3d'),
      ...cpu('vector-product', 'widened-product'),
      ...composite('convolution', 'matmul', 'norm', 'padding', 'slow-convolution'),
      ...support('bfloat16-*', 'complex-product'),
      ...writers('bfloat16', 'columns'),
    ],
  ],
  // what files for mobile have in place of layers
  ['prepacked-layers', cpu('prepacked'), []],
  [
    'transformers',
    [...cpu('attention', 'softmax'), ...composite('transformer'), ...support('attention', 'matmul'), ...writers('attention', 'softmax')],
    [...cpu('rms-norm', 'rotary'), ...composite('attention', 'scaled-attention'), ...writers('rotary')],
  ],
  ['joins', [...composite('cat', 'join-into', 'repeat'), ...tensor('axes')], composite('cat-quantized', 'chunk-cat', 'join-split')],
  [
    'shapes',
    composite('convert', 'factory', 'size', 'views'),
    [
      ...composite('atleast', 'cast', 'complex-views', 'diagonal', 'eye', 'factory-*', 'flip', 'indexing', 'introspection'),
      ...composite('scatter-view', 'sequence', 'shape', 'storage', 'transposes', 'vander', 'view-*'),
      ...tensor('strided-view'),
      ...writers('sequence', 'triangle'),
    ],
  ],
  [
    'reductions',
    [...cpu('cumulative', 'reduction', 'sort', 'variance'), ...support('reduce', 'select'), ...writers('reduce', 'scan', 'sort')],
    [
      ...cpu(
        'counting',
        'cumulative-extremes',
        'quantiles',
        'search-sorted',
        'segment-reduce',
        'truth-reduction',
        'unique',
        'variance-mean',
        'vector-norm',
      ),
      ...composite('histogram*', 'reduction', 'statistics'),
      ...support('range-search'),
    ],
  ],
  [
    'indexing',
    [...cpu('embedding', 'index-fill', 'indexing'), ...composite('embedding'), ...support('index-walk'), ...writers('index')],
    [...cpu('advanced-index', 'embedding-bag', 'masked-select', 'padding', 'scatter'), ...composite('sparse')],
  ],
  [
    'images',
    [...cpu('detection', 'grid-sample', 'upsample'), ...composite('upsample'), ...support('resample'), ...writers('detection', 'resample')],
    [],
  ],
  [
    'recurrent',
    [...cpu('rnn'), ...composite('packed-sequence', 'recurrent-weights', 'rnn*'), ...support('recurrent'), ...writers('rnn')],
    [],
  ],
  ['signals', [...cpu('fourier', 'spectral'), ...composite('fourier', 'istft', 'window'), ...writers('fourier')], []],
  [
    'linalg',
    [
      ...cpu('decompose', 'distance', 'eigen', 'factor/*', 'householder', 'ldl', 'linalg', 'solve-info'),
      ...composite('decompose', 'einsum', 'linalg', 'lu', 'matrix-norm', 'trilinear'),
      ...support('triangle'),
      ...writers('decompose', 'linalg'),
    ],
    [],
  ],
  ['random', [...cpu('random*', 'sobol'), ...composite('random'), ...support('draw', 'generator'), ...writers('random*', 'sobol')], []],
  ['losses', [...cpu('loss'), ...composite('gradient', 'loss', 'margin-loss'), ...support('loss'), ...writers('loss')], []],
  [
    'quantized',
    [
      'runtime/operators/quantized/*',
      ...cpu('fake-quantize', 'quantize'),
      ...composite('quantized-rnn'),
      ...support('quantization'),
      ...writers('quantized*', 'fake_quantize'),
    ],
    [],
  ],
  [
    'texts',
    builtin('list-search', 'string', 'string-search', 'support/bytes', 'support/equality', 'support/value-text'),
    builtin('print', 'string-*'),
  ],
  [
    'values',
    [
      ...builtin('comparison', 'constant-answers', 'conversion', 'format', 'list', 'list-truth', 'number', 'tuple'),
      ...builtin('support/integer', 'support/scalar', 'support/sequence'),
    ],
    builtin('*'),
  ],
]

/** Families of whose files others take constants. */
const SHARED: Readonly<Record<string, readonly string[]>> = {
  'compiled-layers': ['layers'],
  recurrent: ['layers'],
  'prepacked-layers': ['layers'],
}

export const PARTS: readonly Part[] = [
  { name: 'worker', files: ['engine/background/worker.ts'], needs: ['model', 'operators', 'background', 'recording'] },
  // `out` variants of operators that native functions have without
  { name: 'derived', files: operators('generated/derived'), needs: ['operators'] },
  // the table of all operators; usual ones have one among what native functions share
  {
    name: 'table',
    files: operators('decode-schema', 'lookup', 'reach', 'generated/table', 'generated/functions', 'generated/schemas'),
    needs: ['operators'],
  },
  // files of bytecode version 4 and 5
  {
    name: 'old-files',
    files: [
      ...within('program')('argument-counts', 'code-reading', 'generated/opcode-results', 'value-kinds'),
      ...operators('generated/argument-history'),
    ],
    needs: ['model', 'operators'],
  },
  ...FAMILIES.flatMap(([name, files, rare]): Part[] => [
    ...(files.length === 0 ? [] : [{ name, files, needs: ['operators', ...(SHARED[name] ?? [])] }]),
    ...(rare.length === 0 ? [] : [{ name: `${name}-rare`, files: rare, needs: ['operators', name, ...(SHARED[name] ?? [])] }]),
  ]),
  {
    name: 'operators-rare',
    files: [
      'runtime/operators/generated/dispatch-other.ts',
      ...operators('derive', 'missing-operator', 'schema-text', 'similar'),
      ...support('host-tensor', 'sequence', 'target'),
      ...tensor('host-values', 'complex'),
    ],
    needs: ['operators'],
  },
  // reshaped, sliced and permuted tensors
  { name: 'views', files: tensor('view'), needs: ['operators'] },
  {
    // what native functions share
    name: 'operators',
    files: [
      ...operators('fill-defaults', 'generated/*', 'added', 'packed', 'registry', 'schema*', 'unbox', 'unbox-value', 'pack'),
      ...within('runtime/operators')('generated/*', 'called', '*/index'),
      ...support('*'),
      'runtime/shapes/*.ts',
      ...tensor('sparse', 'iterator', 'out', 'promote', 'view-strides'),
      ...writers('copy', 'elementwise', 'join'),
    ],
    needs: [],
  },
  { name: 'others', files: [...cpu('*'), ...composite('*'), ...writers('polynomial', 'weight_only')], needs: ['operators'] },
  // lists, tuples and dicts that callers pass and get
  { name: 'tensor-operations', files: ['src/tensor-operations.ts', 'src/join-tensors.ts'], needs: ['operators'] },
  { name: 'pictures', files: ['media/images/*', 'src/values/read-options.ts', ...writers('image')], needs: ['operators'] },
  { name: 'sounds', files: ['media/audio/*'], needs: ['operators'] },
  { name: 'sources', files: ['src/sources.ts', 'src/signal.ts'], needs: [] },
  { name: 'containers', files: ['src/values/convert-containers.ts'], needs: [] },
  // debugging
  { name: 'guard', files: ['runtime/native/guard.ts'], needs: [] },
  {
    name: 'runtime-rare',
    files: [
      ...within('src')('values/coerce', 'custom-tensors', 'values/foreign'),
      ...within('runtime/native')('cpu-description', 'cpu-dump', 'custom-library', 'frame-async', 'how-to-install', 'portable-executable'),
      ...tensor('describe', 'detached', 'unknown-option', 'number', 'summary'),
      'formats/containers/zip/inflate.ts',
      // without a kernel library
      'formats/containers/no-library.ts',
      'formats/containers/read-whole.ts',
      'formats/containers/zip/crc32-plain.ts',
    ],
    needs: [],
  },
  {
    name: 'runtime',
    files: ['program/reach.ts', 'interpreter/profile.ts'],
    needs: [],
  },
  // writing mobile modules
  {
    name: 'convert',
    files: [
      ...['write', 'pickler'].map((name) => `formats/ptl/${name}.ts`),
      ...['write', 'write-values', 'write-function', 'builder'].map((name) => `formats/ff/${name}.ts`),
      ...['formats/containers/zip/writer.ts', 'formats/writing/*'],
    ],
    needs: ['model', 'files', 'flatbuffers', 'ff-files'],
  },
  { name: 'flatbuffers', files: ['formats/containers/flatbuffer/*'], needs: ['files'] },
  { name: 'exported-programs', files: ['formats/exported/*'], needs: ['files', 'model', 'proof'] },
  { name: 'pt2-files', files: ['formats/pt2/*'], needs: ['exported-programs', 'files', 'model', 'operators'] },
  {
    name: 'pte-files',
    files: ['formats/pte/*', 'formats/pte/kernels/*', 'formats/pte/xnnpack/*', 'formats/containers/file-part.ts'],
    needs: ['exported-programs', 'flatbuffers', 'files', 'model', 'operators'],
  },
  { name: 'ff-files', files: ['formats/ff/*'], needs: ['flatbuffers', 'files', 'model'] },
  // code that is made here, of other code and of graphs
  { name: 'proof', files: ['program/empty-reads.ts'], needs: [] },
  // archives with code in place of bytecode
  { name: 'torchscript', files: ['formats/torchscript/*'], needs: ['operators', 'files', 'model'] },
  // zips of more than 4 GB, and what a file is that is refused
  { name: 'recognize-rare', files: ['formats/recognize*.ts', 'formats/containers/zip/zip64.ts'], needs: ['files'] },
  {
    // what all loaded models need
    name: 'files',
    files: [
      ...['program/file-error.ts', 'formats/reading/nesting.ts', 'formats/containers/zip/*'],
      ...['bytes', 'opened-file', 'value-budget'].map((name) => `formats/containers/${name}.ts`),
      ...['formats/registry.ts', 'formats/steps.ts', 'formats/ptlc/magic.ts'],
      'engine/open.ts',
      ...['compiler/record/signature.ts', 'src/call-options.ts', 'src/fit.ts', 'engine/pass-options.ts'],
    ],
    needs: [],
  },
  {
    // recording what a method does
    name: 'recording',
    files: compiler(
      ...['attribute-names', 'guards', 'operator-kinds', 'recorder'].map((name) => `record/${name}`),
      'graph/graph',
      'generated/operator-facts',
    ),
    needs: ['operators', 'files', 'model'],
  },
  {
    // methods that are compiled in pieces, and that change their module
    name: 'regions',
    files: [...compiler('record/region*', 'record/state-signature', 'record/template', 'regions/*'), 'interpreter/activation.ts'],
    needs: ['operators', 'files', 'model', 'recording'],
  },
  {
    // writing .ptlc files
    name: 'compiled-files-rare',
    files: within('formats/ptlc')('encode', 'writable', 'write-sparse', 'write'),
    needs: ['compiled-files', 'plans', 'files'],
  },
  {
    // .ptlc files
    name: 'compiled-files',
    files: [
      'formats/ptlc/*',
      ...compiler('frames/*'),
      'runtime/native/generated/extents.ts',
      ...['plan-engine', 'load-plans', 'original'].map((name) => `engine/${name}.ts`),
    ],
    needs: ['plans', 'files', 'flatbuffers'],
  },
  {
    name: 'model-rare',
    files: [
      ...compiler('plan-info', 'record/signature-text'),
      ...['ptl/source-range', 'reading/quantization', 'reading/sparse', 'refuse'].map((name) => `formats/${name}.ts`),
      ...within('program')('data-flow', 'disassemble', 'flow-values', 'graph-info', 'raise', 'signature-info', 'type-match'),
      'src/graph-options.ts',
      'src/inspect/*',
    ],
    needs: ['model', 'operators', 'files'],
  },
  {
    // loading, interpreting, and what there is of a method's compilation
    name: 'model',
    files: [
      ...['formats/*', 'program/*', 'interpreter/*', 'runtime/native/budget.ts'],
      ...compiler('call', 'entry', 'index', 'plan-info', 'signature-list', 'tier', 'record/*', 'passes/pass'),
      ...['interpreting-engine', 'load-program', 'open-program', 'plain-engine', 'program-engine'].map((name) => `engine/${name}.ts`),
    ],
    needs: ['operators', 'files'],
  },
  {
    name: 'plans-rare',
    files: compiler('executor/arena', 'executor/stored-blocks', 'executor/transfer'),
    needs: ['plans'],
  },
  {
    // running what was compiled
    name: 'plans',
    files: [
      ...compiler('capture/frame-layout', 'capture/result', 'executor/*', 'memory/*'),
      'runtime/native/generated/layouts.ts',
      ...writers('jit', 'plan'),
    ],
    needs: [],
  },
  {
    name: 'compiler-rare',
    files: compiler('describe-graph', 'explain', 'graph/parse', 'graph/print', 'graph/verify', 'passes/lower/*cost*'),
    needs: ['compiler', 'model', 'operators', 'plans', 'files', 'recording'],
  },
  // programs that PT2E quantization has been through
  {
    name: 'integers-rare',
    files: compiler('passes/integers/*'),
    needs: ['compiler', 'model', 'operators', 'plans', 'files', 'recording'],
  },
  { name: 'compiler', files: ['compiler/*'], needs: ['model', 'operators', 'plans', 'files', 'recording', 'compiled-layers'] },
  // operators of functions, by schemas as texts
  {
    name: 'schemas',
    files: ['src/register-operator.ts', 'codegen/schema/*', 'codegen/types/default-value.ts', 'codegen/types/known.ts'],
    needs: ['operators', 'operators-rare'],
  },
  { name: 'background', files: ['engine/background/*'], needs: ['model', 'plans', 'recording'] },
  { name: 'tracing', files: ['selective-build/trace/*', 'src/tracing.ts', 'runtime/native/generated/kernel-fields.ts'], needs: ['model'] },
]

/** The part that importing the package loads. */
export const FIRST = 'runtime'
