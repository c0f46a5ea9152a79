import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { compileAhead } from '../src/ahead.js'
import * as ptlite from '../src/index.js'
import { fixturePath } from './module/fixtures.js'

const { Module, Profiler, PtliteError, Tensor, callOperator, loadModule, tensor } = ptlite

/** Anything may be passed, as programs in JavaScript do. */
type Loose = (...args: unknown[]) => unknown
const loose = (f: unknown): Loose => f as Loose

const detached = (): Float32Array => {
  const array = new Float32Array(4)
  structuredClone(array, { transfer: [array.buffer] })
  return array
}
const cyclic = (): unknown[] => {
  const list: unknown[] = []
  list.push(list)
  return list
}
const disposedTensor = (): ptlite.Tensor => {
  const x = tensor([[1, 2, 3, 4]])
  x.dispose()
  return x
}
const throwing = (): object => {
  const fail = (): never => {
    throw new TypeError('a getter of the caller')
  }
  return new Proxy({}, { get: fail, has: fail, ownKeys: fail, getOwnPropertyDescriptor: fail, getPrototypeOf: fail })
}

/** Every kind of wrong value by name, made anew for each use. */
const VALUES: Readonly<Record<string, () => unknown>> = {
  undefined: () => undefined,
  null: () => null,
  NaN: () => NaN,
  '-1': () => -1,
  '1.5': () => 1.5,
  '2**53': () => 2 ** 53,
  Infinity: () => Infinity,
  "''": () => '',
  "'x'": () => 'x',
  true: () => true,
  '{}': () => ({}),
  '[]': () => [],
  function: () => () => undefined,
  symbol: () => Symbol('s'),
  bigint: () => 2n ** 80n,
  date: () => new Date(0),
  'no prototype': () => Object.create(null) as unknown,
  'array without prototype': () => Object.setPrototypeOf([1], null) as unknown,
  'typed array': () => new Float32Array([1, 2, 3, 4]),
  'detached array': detached,
  'shared array': () => new Float32Array(new SharedArrayBuffer(16)),
  'big unsigned array': () => new BigUint64Array(2),
  'data view': () => new DataView(new ArrayBuffer(8)),
  'array of another realm': () => runInNewContext('new Float32Array([1, 2, 3, 4])') as unknown,
  'list of another realm': () => runInNewContext('[1, 2]') as unknown,
  'map of another realm': () => runInNewContext('new Map([["a", 1]])') as unknown,
  'empty proxy': () => new Proxy({}, {}),
  'proxy of a list': () => new Proxy([1, 2], {}),
  'throwing proxy': throwing,
  'throwing list': () => new Proxy([1, 2], { get: () => throwing()['x' as never] }),
  'throwing getter': () => Object.defineProperty({}, 'x', { enumerable: true, get: () => throwing()['x' as never] }),
  'revoked proxy': () => {
    const { proxy, revoke } = Proxy.revocable([], {})
    revoke()
    return proxy
  },
  'list in itself': cyclic,
  'list of nothing': () => [undefined, Symbol('s')],
  'ragged lists': () => [[1], [1, 2]],
  promise: () => Promise.resolve(1),
  'unknown options': () => ({ thread: 2 }),
  'float64 tensor': () => tensor(new Float64Array(4), [1, 4]),
  'quantized tensor': () => Tensor.fromStorage(new Uint8Array(4), { dtype: 'quint8', shape: [1, 4], quant: { scale: 1, zeroPoint: 0 } }),
  'disposed tensor': disposedTensor,
}

const dir = t.testdir({})
const model = join(dir, 'compile.ptl')
copyFileSync(fixturePath('compile.ptl'), model)
const picture = { data: new Uint8Array(12), width: 2, height: 2 }
const row = (): ptlite.Tensor => tensor([[1, 2, 3, 4]])
const plans = join(dir, 'compile.ptlc')
writeFileSync(
  plans,
  compileAhead(model, () => [{ method: 'forward', args: [row()] }]),
)
const modules = { scripted: await loadModule(model), compiled: await loadModule(plans) }
const disposed = { scripted: await loadModule(model), compiled: await loadModule(plans) }
disposed.compiled.explain('forward', [row()])
for (const module of Object.values(disposed)) module.dispose()

/** Calls with one argument that is wrong; `works` names the values that are right there. */
interface Row {
  readonly call: Loose
  readonly works?: readonly string[]
}

const NOTHING = ['undefined']
const EVERYTHING = Object.keys(VALUES)
/** Options objects without options. */
const OPTIONS = [...NOTHING, '{}', 'no prototype', 'empty proxy']
const NUMBERS = ['NaN', '-1', '1.5', '2**53', 'Infinity']
/** [1, 2] */
const SIZES = ['list of another realm', 'proxy of a list']
/** A network that sees tokens 0 to 63. */
const languageModel = await loadModule(gunzipSync(readFileSync(new URL('fixtures/generation/gpt2-whole.pt2.gz', import.meta.url))))
/** What [1, 2] is among prompts. */
const TOKENS = [...SIZES]
const firstOf = (...args: unknown[]): unknown => (loose(ptlite.generate)(...args) as ptlite.Generation).next()
const GENERATION: Readonly<Record<string, readonly string[]>> = {
  ...{ maxTokens: ['Infinity'], topK: ['Infinity'], chunk: ['Infinity'], logits: ['function'] },
  ...{ temperature: ['1.5', '2**53'], repetitionPenalty: ['1.5', '2**53'] },
  ...{ frequencyPenalty: ['-1', '1.5', '2**53'], presencePenalty: ['-1', '1.5', '2**53'] },
  ...{ stop: ['[]', ...SIZES], specialTokens: ['true'], logprobs: ['true'] },
}
/** Methods of tensors. */
const WITHOUT_ARGUMENTS = [
  ...['neg', 'abs', 'exp', 'log', 'sqrt', 'sin', 'cos', 'tanh', 'sigmoid', 'relu', 'floor', 'ceil', 'isNan', 'logicalNot'],
]
/** Operators that were registered: each needs a name of its own. */
let registered = 0
const FUNCTIONS: Readonly<Record<string, readonly Row[]>> = {
  'cpu.vectorLength': [{ call: loose(ptlite.cpu.vectorLength) }],
  'cpu.reportOf': [
    { call: loose(ptlite.cpu.reportOf) },
    { call: (x) => loose(ptlite.cpu.reportOf)(ptlite.cpu.dump(), x), works: [...NOTHING, "''"] },
  ],
  ...Object.fromEntries(
    ['currentLevel', 'levelsInUse', 'highestCpuLevel', 'highestBinaryLevel', 'features', 'info', 'kernels', 'report', 'dump'].map(
      (name) => [`cpu.${name}`, [{ call: loose(ptlite.cpu[name as 'dump']), works: EVERYTHING }]],
    ),
  ),
  memoryStats: [{ call: loose(ptlite.memoryStats), works: EVERYTHING }],
  trimMemory: [{ call: loose(ptlite.trimMemory), works: EVERYTHING }],
  setNativeLibrary: [{ call: loose(ptlite.setNativeLibrary) }],
  getNumThreads: [{ call: loose(ptlite.getNumThreads), works: EVERYTHING }],
  setNumThreads: [{ call: loose(ptlite.setNumThreads), works: ['2**53'] }],
  complex: [
    { call: loose(ptlite.complex), works: [...NUMBERS, 'bigint'] },
    { call: (x) => loose(ptlite.complex)(1, x), works: [...NOTHING, ...NUMBERS, 'bigint'] },
  ],
  float: [{ call: loose(ptlite.float), works: [...NUMBERS, 'bigint'] }],
  int: [{ call: loose(ptlite.int), works: ['-1', '2**53'] }],
  tuple: [
    {
      call: loose(ptlite.tuple),
      works: [
        ...[...NOTHING, 'null', 'NaN', '-1', '1.5', '2**53', 'Infinity', "''", "'x'", 'true', '[]', 'list of another realm'],
        ...['map of another realm', 'proxy of a list', 'ragged lists', 'float64 tensor', 'quantized tensor', 'disposed tensor'],
      ],
    },
  ],
  tensor: [
    {
      call: loose(tensor),
      works: [
        ...[
          ...NUMBERS,
          'true',
          '[]',
          'typed array',
          'shared array',
          'array of another realm',
          'big unsigned array',
          'list of another realm',
        ],
        ...['proxy of a list'],
      ],
    },
    { call: (x) => loose(tensor)(1, x), works: [...NOTHING, '[]', 'array without prototype'] },
    { call: (x) => loose(tensor)([1], undefined, x), works: NOTHING },
    { call: (x) => loose(tensor)(x, [2, 2], 'float32'), works: ['typed array', 'shared array', 'array of another realm'] },
  ],
  'Tensor.fromStorage': [
    {
      call: (x) => loose(Tensor.fromStorage)(x, { dtype: 'float32', shape: [4] }),
      works: ['typed array', 'shared array', 'array of another realm'],
    },
    { call: (x) => loose(Tensor.fromStorage)(new Float32Array(4), x) },
    { call: (x) => loose(Tensor.fromStorage)(new Float32Array(4), { dtype: x, shape: [4] }) },
    {
      call: (x) => loose(Tensor.fromStorage)(new Float32Array(4), { dtype: 'float32', shape: x }),
      works: ['[]', 'proxy of a list', 'list of another realm', 'array without prototype'],
    },
    {
      call: (x) => loose(Tensor.fromStorage)(new Float32Array(4), { dtype: 'float32', shape: [2], strides: x }),
      works: [...NOTHING, 'array without prototype'],
    },
    { call: (x) => loose(Tensor.fromStorage)(new Float32Array(4), { dtype: 'float32', shape: [2], offset: x }), works: NOTHING },
    {
      call: (x) => loose(Tensor.fromStorage)(new Float32Array(4), { dtype: 'float32', shape: [2], quant: x }),
      works: [...NOTHING, 'null'],
    },
    { call: (x) => loose(Tensor.fromStorage)(new Uint8Array(4), { dtype: 'quint8', shape: [4], quant: x }) },
    {
      call: (x) => loose(Tensor.fromStorage)(new Uint8Array(4), { dtype: 'quint8', shape: [4], quant: { scale: x, zeroPoint: 0 } }),
      works: ['-1', '1.5', '2**53'],
    },
    { call: (x) => loose(Tensor.fromStorage)(new Uint8Array(4), { dtype: 'quint8', shape: [4], quant: { scale: 1, zeroPoint: x } }) },
    {
      call: (x) =>
        loose(Tensor.fromStorage)(new Uint8Array(4), { dtype: 'quint8', shape: [1, 4], quant: { axis: x, scales: [1], zeroPoints: [0] } }),
    },
    {
      call: (x) =>
        loose(Tensor.fromStorage)(new Uint8Array(4), { dtype: 'quint8', shape: [1, 4], quant: { axis: 0, scales: x, zeroPoints: [0] } }),
      works: ['array without prototype'],
    },
  ],
  inspectModel: [{ call: loose(ptlite.inspectModel) }],
  suggestInputs: [{ call: (x) => loose(ptlite.suggestInputs)(x) }, { call: (x) => loose(ptlite.suggestInputs)(disposed.scripted, x) }],
  loadModule: [
    { call: loose(loadModule) },
    { call: (x) => loose(loadModule)(model, x), works: OPTIONS },
    ...[
      'compile',
      'winograd',
      'map',
      'onWarning',
      'onProgress',
      'cache',
      'integrity',
      'limits',
      'maxIterations',
      'signal',
      'weights',
      'group',
      'keep',
      'activations',
      'kvCache',
    ].map((name) => ({
      call: (x: unknown) => loose(loadModule)(model, { [name]: x }),
      works: [
        ...NOTHING,
        ...(name === 'winograd' || name === 'map'
          ? ['true']
          : name === 'onWarning' || name === 'onProgress' || name === 'keep'
            ? ['function']
            : name === 'cache'
              ? ["'x'"]
              : name === 'maxIterations'
                ? ['Infinity']
                : name === 'limits'
                  ? OPTIONS.filter((value) => !NOTHING.includes(value))
                  : []),
      ],
    })),
  ],
  generate: [
    { call: (x) => loose(ptlite.generate)(x, [1]) },
    { call: (x) => firstOf(languageModel, x), works: TOKENS },
    { call: (x) => firstOf(languageModel, { input_ids: x }), works: TOKENS },
    { call: (x) => firstOf(languageModel, [1], x), works: OPTIONS },
    ...['maxTokens', 'temperature', 'topK', 'topP', 'minP', 'typicalP', 'repetitionPenalty', 'frequencyPenalty', 'presencePenalty']
      .concat('seed', 'stop', 'tokenizer', 'specialTokens', 'logprobs', 'topLogprobs', 'logits', 'signal', 'chunk')
      .map((name) => ({
        call: (x: unknown) => firstOf(languageModel, [1], { [name]: x }),
        works: [...NOTHING, ...(GENERATION[name] ?? [])],
      })),
  ],
  embed: [
    { call: (x) => loose(ptlite.embed)(x, [[1]]) },
    { call: (x) => loose(ptlite.embed)(languageModel, x), works: ['ragged lists'] },
    { call: (x) => loose(ptlite.embed)(languageModel, [x]), works: TOKENS },
    { call: (x) => loose(ptlite.embed)(languageModel, [[1]], x), works: OPTIONS },
    ...['pooling', 'normalize', 'batch', 'signal'].map((name) => ({
      call: (x: unknown) => loose(ptlite.embed)(languageModel, [[1]], { [name]: x }),
      works: [...NOTHING, ...(name === 'normalize' ? ['true'] : name === 'batch' ? ['Infinity'] : [])],
    })),
  ],
  nearestVectors: [
    { call: (x) => loose(ptlite.nearestVectors)(x, row(), 1) },
    { call: (x) => loose(ptlite.nearestVectors)(row(), x, 1) },
    { call: (x) => loose(ptlite.nearestVectors)(row(), row(), x) },
    { call: (x) => loose(ptlite.nearestVectors)({ values: row(), scales: x }, row(), 1) },
  ],
  roundVectors: [{ call: loose(ptlite.roundVectors) }],
  loadTokenizer: [
    { call: loose(ptlite.loadTokenizer) },
    ...['tokenizer', 'config', 'template'].map((name) => ({
      call: (x: unknown) => loose(ptlite.loadTokenizer)({ tokenizer: null, [name]: x }),
    })),
  ],
  openSession: [
    { call: loose(ptlite.openSession) },
    { call: (x) => loose(ptlite.openSession)(languageModel, x), works: [...OPTIONS, '[]'] },
  ],
  readWav: [{ call: loose(ptlite.readWav) }],
  writeWav: [
    { call: (x) => loose(ptlite.writeWav)(x, 8000) },
    { call: (x) => loose(ptlite.writeWav)(row(), x) },
    { call: (x) => loose(ptlite.writeWav)(row(), 8000, x), works: OPTIONS },
    { call: (x) => loose(ptlite.writeWav)(row(), 8000, { format: x }), works: NOTHING },
  ],
  transcribe: [
    { call: (x) => loose(ptlite.transcribe)(x, row()) },
    { call: (x) => loose(ptlite.transcribe)(languageModel, x) },
    { call: (x) => loose(ptlite.transcribe)(languageModel, row(), x) },
    ...[
      'tokenizer',
      'config',
      'vocabulary',
      'language',
      'task',
      'timestamps',
      'prompt',
      'context',
      'temperature',
      'compressionRatioThreshold',
    ]
      .concat(
        'logprobThreshold',
        'noSpeechThreshold',
        'seed',
        'onSegment',
        'sampleRate',
        'mel',
        'normalize',
        'beams',
        'wordModel',
        'signal',
      )
      .map((name) => ({ call: (x: unknown) => loose(ptlite.transcribe)(languageModel, row(), { [name]: x }) })),
  ],
  ctcDecode: [
    { call: (x) => loose(ptlite.ctcDecode)(x), works: ['float64 tensor'] },
    { call: (x) => loose(ptlite.ctcDecode)(row(), x), works: OPTIONS },
    ...['vocabulary', 'blank', 'beams', 'wordModel', 'wordWeight', 'wordBonus'].map((name) => ({
      call: (x: unknown) => loose(ptlite.ctcDecode)(row(), { [name]: x }),
      works: [
        ...NOTHING,
        ...(name === 'vocabulary' ? [...OPTIONS, '[]', 'unknown options'] : name === 'beams' ? ['Infinity'] : []),
        ...(name.startsWith('word') && name !== 'wordModel' ? ['-1', '1.5', '2**53'] : []),
      ],
    })),
  ],
  readArpa: [{ call: loose(ptlite.readArpa) }],
  cat: [
    { call: loose(ptlite.cat) },
    { call: (x) => loose(ptlite.cat)([x]), works: ['float64 tensor', 'quantized tensor'] },
    { call: (x) => loose(ptlite.cat)([row(), row()], x), works: [...NOTHING, '-1'] },
  ],
  ...Object.fromEntries(
    ['zeros', 'ones', 'rand', 'randn'].map((name) => [
      name,
      [
        { call: (x: unknown) => loose(ptlite[name as 'zeros'])(x), works: [...SIZES, '[]'] },
        { call: (x: unknown) => loose(ptlite[name as 'zeros'])([1], x), works: [...NOTHING, 'null'] },
      ],
    ]),
  ),
  full: [
    { call: (x) => loose(ptlite.full)(x, 1), works: [...SIZES, '[]'] },
    { call: (x) => loose(ptlite.full)([1], x), works: [...NUMBERS, 'true'] },
    { call: (x) => loose(ptlite.full)([1], 1, x), works: [...NOTHING, 'null'] },
  ],
  eye: [
    { call: loose(ptlite.eye) },
    { call: (x) => loose(ptlite.eye)(2, x), works: [...NOTHING, 'null'] },
    { call: (x) => loose(ptlite.eye)(2, 2, x), works: [...NOTHING, 'null'] },
  ],
  arange: [
    { call: loose(ptlite.arange), works: ['1.5', 'true'] },
    { call: (x) => loose(ptlite.arange)(0, x), works: ['1.5', ...NOTHING, 'null', 'true'] },
    { call: (x) => loose(ptlite.arange)(0, 1, x), works: ['1.5', '2**53', 'Infinity', 'true', ...NOTHING] },
    { call: (x) => loose(ptlite.arange)(0, 1, 1, x), works: [...NOTHING, 'null'] },
  ],
  linspace: [
    { call: (x) => loose(ptlite.linspace)(x, 1, 2), works: [...NUMBERS, 'true'] },
    { call: (x) => loose(ptlite.linspace)(0, x, 2), works: [...NUMBERS, 'true'] },
    { call: (x) => loose(ptlite.linspace)(0, 1, x) },
    { call: (x) => loose(ptlite.linspace)(0, 1, 2, x), works: [...NOTHING, 'null'] },
  ],
  where: [
    { call: (x) => loose(ptlite.where)(x, 1, 0) },
    { call: (x) => loose(ptlite.where)(row().gt(0), x, 0), works: [...NUMBERS, 'true', 'float64 tensor'] },
    { call: (x) => loose(ptlite.where)(row().gt(0), 0, x), works: [...NUMBERS, 'true', 'float64 tensor'] },
  ],
  stack: [
    { call: loose(ptlite.stack) },
    { call: (x) => loose(ptlite.stack)([x]), works: ['float64 tensor', 'quantized tensor'] },
    { call: (x) => loose(ptlite.stack)([row(), row()], x), works: [...NOTHING, '-1'] },
  ],
  resampleAudio: [
    { call: (x) => loose(ptlite.resampleAudio)(x, 8000, 16000) },
    { call: (x) => loose(ptlite.resampleAudio)(row(), x, 16000) },
    { call: (x) => loose(ptlite.resampleAudio)(row(), 8000, x) },
  ],
  melSpectrogram: [
    { call: (x) => loose(ptlite.melSpectrogram)(x, { sampleRate: 8000, nFft: 4 }) },
    { call: (x) => loose(ptlite.melSpectrogram)(row(), x) },
    ...['sampleRate', 'nFft', 'winLength', 'hopLength', 'nMels', 'fMin', 'fMax', 'power', 'center', 'melScale', 'norm', 'log'].map(
      (name) => ({
        call: (x: unknown) => loose(ptlite.melSpectrogram)(row(), { sampleRate: 8000, nFft: 4, [name]: x }),
        works: [
          ...(name === 'sampleRate' || name === 'nFft' ? [] : NOTHING),
          ...(name === 'center' ? ['true'] : name === 'power' || name === 'fMin' || name === 'fMax' ? ['1.5'] : []),
        ],
      }),
    ),
  ],
  imageToTensor: [
    { call: loose(ptlite.imageToTensor) },
    { call: (x) => loose(ptlite.imageToTensor)([picture, x]) },
    { call: (x) => loose(ptlite.imageToTensor)(picture, x), works: OPTIONS },
    ...['data', 'width', 'height', 'channels', 'info'].map((name) => ({
      call: (x: unknown) => loose(ptlite.imageToTensor)({ ...picture, [name]: x }),
      works: name === 'info' ? [...NOTHING, 'null'] : name === 'channels' ? NOTHING : [],
    })),
    ...['resize', 'crop', 'fit', 'fill', 'filter', 'channels', 'order', 'mean', 'std'].map((name) => ({
      call: (x: unknown) => loose(ptlite.imageToTensor)(picture, { [name]: x }),
      works: [
        ...NOTHING,
        ...(name === 'mean' || name === 'std' ? ['-1', '1.5', '2**53'] : ['resize', 'crop', 'fit'].includes(name) ? SIZES : []),
      ],
    })),
  ],
  tensorToImage: [
    { call: loose(ptlite.tensorToImage) },
    { call: (x) => loose(ptlite.tensorToImage)(tensor([[[1]]]), x), works: OPTIONS },
    ...['alpha', 'order', 'mean', 'std'].map((name) => ({
      call: (x: unknown) => loose(ptlite.tensorToImage)(tensor([[[1]]]), { [name]: x }),
      works: [
        ...NOTHING,
        ...(name === 'mean' || name === 'std' ? ['-1', '1.5', '2**53', 'array without prototype'] : name === 'alpha' ? ['true'] : []),
      ],
    })),
  ],
  callOperator: [
    { call: (x) => loose(callOperator)(x, []) },
    { call: (x) => loose(callOperator)('aten::neg', x) },
    { call: (x) => loose(callOperator)('aten::neg', [x]), works: ['float64 tensor'] },
    { call: (x) => loose(callOperator)('aten::cat', [x, 0]) },
    { call: (x) => loose(callOperator)('aten::cat', [[x], 0]), works: ['float64 tensor', 'quantized tensor'] },
    { call: (x) => loose(callOperator)('aten::reshape', [row(), x]) },
    { call: (x) => loose(callOperator)('aten::sum.dim_IntList', [row(), x, false, null]), works: [...NOTHING, 'null', '-1', '[]'] },
    { call: (x) => loose(callOperator)('aten::mul.Scalar', [row(), x]), works: [...NUMBERS, 'true'] },
  ],
  operators: [{ call: loose(ptlite.operators), works: EVERYTHING }],
  registerOperator: [
    { call: (x) => loose(ptlite.registerOperator)(x, () => null) },
    { call: (x) => loose(ptlite.registerOperator)(`every::argument${registered++}(Tensor x) -> Tensor`, x), works: ['function'] },
  ],
  startTracing: [
    {
      call: (x) => {
        loose(ptlite.startTracing)(x)
        return loose(ptlite.stopTracing)(x)
      },
      works: EVERYTHING,
    },
  ],
  stopTracing: [{ call: loose(ptlite.stopTracing) }],
  Profiler: [
    {
      call: (x) => new (Profiler as unknown as new (x: unknown) => unknown)(x),
      works: OPTIONS,
    },
    { call: (x) => new (Profiler as unknown as new (x: unknown) => unknown)({ kernels: x }), works: [...NOTHING, 'true'] },
  ],
  'Profiler.now': [{ call: () => new Profiler().now(), works: EVERYTHING }],
  'Profiler.record': [{ call: () => new Profiler().record('name', 0, { function: 'f', instruction: 0 }), works: EVERYTHING }],
  'Profiler.toChromeTrace': [{ call: () => new Profiler().toChromeTrace(), works: EVERYTHING }],
  ...Object.fromEntries(
    [
      'data',
      'toArray',
      'numbers',
      'toString',
      'detach',
      'dispose',
      'release',
      'dtype',
      'dim',
      'numel',
      'itemSize',
      'isContiguous',
      'isQuantized',
      'isReleased',
      'isSparse',
      'shape',
      'strides',
      'offset',
      'storage',
      'uses',
      'pinned',
      'type',
      'quant',
    ].map((name) => [
      `Tensor.${name}`,
      [
        {
          call: (x: unknown) => {
            const member = row()[name as 'data'] as unknown
            return typeof member === 'function' ? loose(member.bind(row()))(x) : member
          },
          works: EVERYTHING,
        },
      ],
    ]),
  ),
  'Tensor.item': [{ call: (x) => loose(row().item.bind(row()))(x) }],
  'Tensor.from': [
    { call: loose(Tensor.from) },
    { call: (x) => loose(Tensor.from)({ dtype: x, shape: [4], buffer: new ArrayBuffer(16), quant: null }) },
    {
      call: (x) => loose(Tensor.from)({ dtype: 'float32', shape: x, buffer: new ArrayBuffer(16), quant: null }),
      works: ['[]', 'list of another realm', 'proxy of a list', 'array without prototype'],
    },
    { call: (x) => loose(Tensor.from)({ dtype: 'float32', shape: [4], buffer: x, quant: null }) },
    {
      call: (x) => loose(Tensor.from)({ dtype: 'float32', shape: [4], buffer: new ArrayBuffer(16), quant: x }),
      works: ['undefined', 'null'],
    },
  ],
  'Tensor.toJSON': [
    { call: (x) => loose(row().toJSON.bind(row()))(x), works: ["''", "'x'", ...OPTIONS] },
    { call: (x) => row().toJSON({ base64: x as boolean }), works: [...NOTHING, 'true'] },
  ],
  'Tensor.fromJSON': [
    { call: loose(Tensor.fromJSON) },
    { call: (x) => Tensor.fromJSON({ dtype: x, shape: [4], data: [1, 2, 3, 4] }) },
    {
      call: (x) => Tensor.fromJSON({ dtype: 'float32', shape: x, data: [1, 2] }),
      works: SIZES,
    },
    { call: (x) => Tensor.fromJSON({ dtype: 'float32', shape: [4], data: x }) },
    { call: (x) => Tensor.fromJSON({ dtype: 'float32', shape: [1], data: [x] }), works: NUMBERS },
    { call: (x) => Tensor.fromJSON({ dtype: 'quint8', shape: [1], data: [1], quant: x }) },
  ],
  ...tensorOperations(),
  'Tensor.at': [{ call: (x) => row().at(x as number), works: ['-1'] }],
  'Tensor.address': [{ call: () => disposedTensor().address }, { call: () => disposedTensor().detach() }],
}

/** Methods that are operators: right arguments, one of which is replaced at a time, and what works in its place. */
function tensorOperations(): Record<string, readonly Row[]> {
  const dim: readonly string[] = ['-1']
  const optional: readonly string[] = [...NOTHING, ...dim]
  const bound: readonly string[] = [...optional, 'null', '2**53']
  const dims: readonly string[] = [...optional, 'null', '[]']
  const keepdim: readonly string[] = [...NOTHING, 'true']
  const operand: readonly string[] = [...NUMBERS, 'true', 'float64 tensor']
  const OPERATIONS: Readonly<Record<string, readonly (readonly [right: unknown, works: readonly string[]])[]>> = {
    reshape: [[[4], []]],
    flatten: [
      [0, optional],
      [1, optional],
    ],
    permute: [[[1, 0], []]],
    transpose: [
      [0, dim],
      [1, dim],
    ],
    squeeze: [[0, [...optional, '[]']]],
    unsqueeze: [[0, dim]],
    slice: [
      [0, optional],
      [0, bound],
      [1, bound],
      [1, [...NOTHING, '2**53']],
    ],
    select: [
      [0, dim],
      [0, dim],
    ],
    indexSelect: [
      [0, dim],
      [tensor([0n]), []],
    ],
    to: [['float64', []]],
    ...Object.fromEntries(WITHOUT_ARGUMENTS.map((name) => [name, [[undefined, NOTHING]]])),
    clone: [[undefined, [...NOTHING, 'null']]],
    ...Object.fromEntries(['add', 'sub', 'mul', 'div'].map((name) => [name, [[1, operand]]])),
    ...Object.fromEntries(['eq', 'ne', 'gt', 'ge', 'lt', 'le'].map((name) => [name, [[1, [...operand, 'quantized tensor']]]])),
    pow: [[1, operand]],
    ...Object.fromEntries(['logicalAnd', 'logicalOr'].map((name) => [name, [[row(), ['float64 tensor']]]])),
    matmul: [[tensor([1, 2, 3, 4]), []]],
    expand: [[[1, 4], []]],
    gather: [
      [0, dim],
      [tensor([[0n]]), []],
    ],
    flip: [[[0], ['[]']]],
    chunk: [
      [2, ['2**53']],
      [0, optional],
    ],
    split: [
      [1, ['2**53']],
      [0, optional],
    ],
    round: [[1, [...optional, '2**53']]],
    clamp: [
      [0, [...NOTHING, 'null', 'true', ...NUMBERS]],
      [1, [...NOTHING, 'null', 'true', ...NUMBERS]],
    ],
    where: [
      [row().gt(0), []],
      [1, operand],
    ],
    prod: [
      [0, dim],
      [true, keepdim],
    ],
    ...Object.fromEntries(
      ['std', 'var'].map((name) => [
        name,
        [
          [0, dims],
          [1, [...NOTHING, 'null', 'true', ...NUMBERS]],
          [true, keepdim],
        ],
      ]),
    ),
    norm: [
      [2, [...NOTHING, 'true', ...NUMBERS]],
      [0, dims],
      [true, keepdim],
    ],
    ...Object.fromEntries(
      ['max', 'min'].map((name) => [
        name,
        [
          [0, dim],
          [true, keepdim],
        ],
      ]),
    ),
    ...Object.fromEntries(
      ['any', 'all'].map((name) => [
        name,
        [
          [0, dims],
          [true, keepdim],
        ],
      ]),
    ),
    cumsum: [[0, dim]],
    logSoftmax: [[0, optional]],
    sort: [
      [0, optional],
      [true, keepdim],
    ],
    argmin: [
      [0, [...optional, 'null']],
      [true, keepdim],
    ],
    ...Object.fromEntries(
      ['sum', 'mean', 'amax', 'amin'].map((name) => [
        name,
        [
          [0, name.startsWith('a') ? dims.filter((value) => value !== 'null') : dims],
          [true, keepdim],
        ],
      ]),
    ),
    argmax: [
      [0, [...optional, 'null']],
      [true, keepdim],
    ],
    softmax: [[0, optional]],
    topk: [
      [1, []],
      [0, optional],
      [true, keepdim],
    ],
  }
  return Object.fromEntries(
    Object.entries(OPERATIONS).map(([name, given]) => [
      `Tensor.${name}`,
      given.map(([, works], at) => ({
        call: (x: unknown) => loose(row()[name as 'add'].bind(row()))(...given.map(([right], i) => (i === at ? x : right))),
        works,
      })),
    ]),
  )
}

const METHODS: Readonly<Record<string, (module: ptlite.Module) => readonly Row[]>> = {
  forward: (module) => [
    { call: (x) => loose(module.forward.bind(module))(x), works: [] },
    { call: (x) => loose(module.forward.bind(module))(row(), x) },
  ],
  call: (module) => [
    { call: (x) => loose(module.call.bind(module))(x, [row()]) },
    { call: (x) => loose(module.call.bind(module))('forward', x) },
    {
      call: (x) => loose(module.call.bind(module))('forward', [row()], x),
      works: OPTIONS,
    },
    { call: (x) => loose(module.call.bind(module))('forward', [row()], { profiler: x }), works: NOTHING },
    { call: (x) => loose(module.call.bind(module))('scaled', [row(), x]), works: ['-1', '2**53'] },
  ],
  run: (module) => [
    { call: (x) => loose(module.run.bind(module))(x, [row()]) },
    { call: (x) => loose(module.run.bind(module))('forward', x) },
    {
      call: (x) => loose(module.run.bind(module))('forward', [row()], x),
      works: OPTIONS,
    },
    { call: (x) => loose(module.run.bind(module))('forward', [row()], { signal: x }), works: NOTHING },
  ],
  compile: (module) => [
    { call: (x) => loose(module.compile.bind(module))(x, [row()]) },
    { call: (x) => loose(module.compile.bind(module))('forward', x) },
  ],
  explain: (module) => [
    { call: (x) => loose(module.explain.bind(module))(x, [row()]) },
    { call: (x) => loose(module.explain.bind(module))('forward', x) },
  ],
  graph: (module) => [
    { call: (x) => loose(module.graph.bind(module))(x, [row()]) },
    { call: (x) => loose(module.graph.bind(module))('forward', x) },
    { call: (x) => loose(module.graph.bind(module))('forward', [row()], x), works: OPTIONS },
  ],
  arena: (module) => [
    { call: (x) => loose(module.arena.bind(module))(x, [row()]) },
    { call: (x) => loose(module.arena.bind(module))('forward', x) },
  ],
  train: (module) => [{ call: (x) => loose(module.train.bind(module))(x), works: [...NOTHING, 'true'] }],
  eval: (module) => [{ call: loose(module.eval.bind(module)), works: EVERYTHING }],
  getAttribute: (module) => [{ call: (x) => loose(module.getAttribute.bind(module))(x) }],
  saveState: (module) => [{ call: loose(module.saveState.bind(module)), works: EVERYTHING }],
  loadState: (module) => [{ call: (x) => loose(module.loadState.bind(module))(x) }],
  ...Object.fromEntries(
    ['plans', 'parameters', 'forms'].map((name) => [
      name,
      (module: ptlite.Module) => [{ call: loose(module[name as 'plans'].bind(module)), works: EVERYTHING }],
    ]),
  ),
  ...Object.fromEntries(
    ['methods', 'operators', 'missing', 'bytecodeVersion', 'operatorVersion', 'extraFiles', 'inputs', 'outputs'].map((name) => [
      name,
      (module: ptlite.Module) => [{ call: () => module[name as 'methods'], works: EVERYTHING }],
    ]),
  ),
}

/** Not called with wrong arguments here, and why. */
const EXEMPT: Readonly<Record<string, string>> = {
  PtliteError: 'made by the library',
  Complex: 'made by complex()',
  Float: 'made by float()',
  custom: 'what generated wrappers of custom operators call, with arguments that they have unboxed',
  Module: 'made by loadModule()',
  'Tensor.constructor': 'made by tensor() and Tensor.fromStorage()',
  'Tensor.checkedFromStorage': 'private: Tensor.fromStorage() calls it',
  'Profiler.constructor': 'the row Profiler',
  'Module.dispose': 'takes nothing and ends the module',
}

/** 'works', or how it failed. */
async function outcomeOf(call: () => unknown): Promise<string> {
  try {
    await call()
    return 'works'
  } catch (error) {
    if (!(error instanceof PtliteError))
      return `raw: ${error instanceof Error ? (error.stack ?? '').split('\n', 3).join(' ') : String(error)}`
    const { code, message } = error
    if (code === 'INTERNAL' || message.length < 8) return `${code}: ${message}`
    // what engines say of mistakes in code
    const internal =
      /Cannot (read|convert|mix|destructure|set)|is not (a function|iterable|defined|a constructor)|of undefined|\[object|Invalid (array|typed)/
    return internal.test(message) ? `internals: ${message}` : 'refused'
  }
}

async function checkRow(t: Test, name: string, { call, works = [] }: Row, at: number): Promise<void> {
  const wrong: string[] = []
  for (const [kind, make] of Object.entries(VALUES)) {
    const outcome = await outcomeOf(() => call(make()))
    const expected = works.includes(kind) ? 'works' : 'refused'
    if (outcome !== expected) wrong.push(`${kind}: ${outcome}, expected ${expected}`)
  }
  t.strictSame(wrong, [], `${name} ${at}`)
}

t.test('every public function works or says what is wrong, whatever it is given', async (t) => {
  for (const [name, rows] of Object.entries(FUNCTIONS)) for (const [i, row] of rows.entries()) await checkRow(t, name, row, i)
})

for (const [kind, module] of Object.entries(modules)) {
  t.test(`every method of a ${kind} module, whatever it is given`, async (t) => {
    for (const [name, rowsOf] of Object.entries(METHODS)) for (const [i, row] of rowsOf(module).entries()) await checkRow(t, name, row, i)
  })
}

t.test('a disposed module says so', async (t) => {
  for (const [kind, module] of Object.entries(disposed)) {
    for (const name of ['forward', 'call', 'run', 'compile', 'explain', 'arena', 'getAttribute', 'parameters'] as const) {
      const args = name === 'forward' ? [row()] : name === 'getAttribute' ? ['training'] : name === 'parameters' ? [] : ['forward', [row()]]
      const error = await Promise.resolve()
        .then(() => loose(module[name].bind(module))(...args))
        .catch((error: unknown) => error)
      t.match(error, { name: 'PtliteError', code: 'DISPOSED' }, `${kind} ${name}`)
    }
    module.dispose()
  }
})

t.test('every export and method has a row', async (t) => {
  const has = (name: string): boolean => name in FUNCTIONS || name in EXEMPT
  const namesOf = (type: { prototype: object }): string[] => Object.getOwnPropertyNames(type.prototype)
  const names = [
    ...Object.keys(ptlite).filter((name) => name !== 'Tensor' && name !== 'cpu'),
    ...Object.keys(ptlite.cpu).map((name) => `cpu.${name}`),
    ...namesOf(Tensor).map((name) => `Tensor.${name}`),
    ...Object.getOwnPropertyNames(Tensor)
      .filter((name) => typeof Tensor[name as 'from'] === 'function')
      .map((name) => `Tensor.${name}`),
    ...namesOf(Profiler).map((name) => `Profiler.${name}`),
  ]
  t.strictSame(
    names.filter((name) => !has(name)),
    [],
  )
  const methods = new Set<string>()
  for (
    let type: unknown = Object.getPrototypeOf(modules.scripted);
    type !== null && type !== Object.prototype;
    type = Object.getPrototypeOf(type)
  )
    for (const name of Object.getOwnPropertyNames(type)) if (name in Module.prototype || name in modules.compiled) methods.add(name)
  t.strictSame(
    [...methods].filter((name) => !(name in METHODS) && !(`Module.${name}` in EXEMPT) && name !== 'constructor'),
    [],
  )
})

t.test('unknown options are refused with the nearest name', async (t) => {
  const messageOf = (options: unknown): Promise<string> =>
    loadModule(model, options as ptlite.LoadOptions).then(String, (error: Error) => error.message)
  t.equal(await messageOf({ compiled: 'off' }), "loadModule() takes no option 'compiled'; did you mean 'compile'?")
  t.equal(await messageOf({ onwarning: () => undefined }), "loadModule() takes no option 'onwarning'; did you mean 'onWarning'?")
  t.equal(
    await messageOf({ thread: 2 }),
    "loadModule() takes no option 'thread'; it takes compile, winograd, map, verify, eval, strict, data, limits, onProgress, cache, integrity, signal, onWarning, maxIterations, weights, group, keep, activations, kvCache",
  )
  t.equal(await messageOf({ compile: 'yes' }), "loadModule(): expected compile to be 'auto' or 'off' or 'eager', found \"yes\"")
  const call = (options: object): unknown => modules.scripted.call('forward', [row()], options)
  t.throws(() => call({ profile: new Profiler() }), {
    code: 'INVALID_ARGUMENT',
    message: "call() takes no option 'profile'; did you mean 'profiler'?",
  })
})

t.test('signals of other classes abort', async (t) => {
  let listener: (() => void) | undefined
  const signal = { aborted: false, reason: new Error('stop'), addEventListener: (_: string, f: () => void) => (listener = f) }
  const run = modules.scripted.run('forward', [row()], { signal: signal as unknown as AbortSignal })
  listener!()
  await t.rejects(run, { message: 'stop' })
})
