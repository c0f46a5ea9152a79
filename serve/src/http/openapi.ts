import { SERVE_VERSION } from '../version.js'

/** A part of a JSON schema. */
type Schema = Readonly<Record<string, unknown>>

interface Operation {
  readonly method: 'get' | 'post'
  /** With its parameters in braces. */
  readonly path: string
  readonly tag: 'server' | 'models' | 'inference' | 'language models' | 'repository'
  readonly summary: string
  readonly body?: Schema
  /** The body is a form in place of JSON. */
  readonly isForm?: boolean
  /** What it is answered with; JSON unless `type` says otherwise. */
  readonly answer: Schema
  readonly type?: string
  /** Statuses beside 200 that have an error as their body. */
  readonly errors?: readonly number[]
  /** Nobody has to have a token for it. */
  readonly isOpen?: boolean
}

const text: Schema = { type: 'string' }
const count: Schema = { type: 'integer', minimum: 0 }
const flag: Schema = { type: 'boolean' }
const list = (items: Schema): Schema => ({ type: 'array', items })
const named = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })
/** An object with these fields; those that end in `?` may be left out, and more may be there. */
function object(fields: Readonly<Record<string, Schema>>): Schema {
  const entries = Object.entries(fields).map(([key, schema]) => [key.replace(/\?$/, ''), schema] as const)
  return { type: 'object', properties: Object.fromEntries(entries), required: Object.keys(fields).filter((key) => !key.endsWith('?')) }
}

const SHAPE = list({ type: 'integer' })
const DATATYPE: Schema = {
  type: 'string',
  enum: ['BOOL', 'UINT8', 'INT8', 'INT16', 'INT32', 'INT64', 'FP16', 'BF16', 'FP32', 'FP64', 'BYTES'],
}
/** Elements in order of rows, in nested lists or a flat one. */
const DATA: Schema = { type: 'array', items: {} }
const PARAMETERS: Schema = { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } }

/** Fields that completions and chats have in common. */
const SAMPLING: Readonly<Record<string, Schema>> = {
  'max_tokens?': count,
  'temperature?': { type: 'number', minimum: 0, maximum: 2 },
  'top_p?': { type: 'number', minimum: 0, maximum: 1 },
  'top_k?': { type: 'integer' },
  'min_p?': { type: 'number', minimum: 0, maximum: 1 },
  'repetition_penalty?': { type: 'number' },
  'frequency_penalty?': { type: 'number', minimum: -2, maximum: 2 },
  'presence_penalty?': { type: 'number', minimum: -2, maximum: 2 },
  'seed?': { type: 'integer' },
  'stop?': { oneOf: [text, { ...list(text), maxItems: 16 }] },
  'logit_bias?': { type: 'object', additionalProperties: { type: 'number' } },
  'response_format?': object({
    type: { type: 'string', enum: ['text', 'json_object', 'json_schema'] },
    'json_schema?': { type: 'object' },
  }),
  'stream?': flag,
  'stream_options?': object({ 'include_usage?': flag }),
}

const SCHEMAS: Readonly<Record<string, Schema>> = {
  Error: object({ error: text }),
  ApiError: object({
    error: object({ message: text, type: text, param: { type: ['string', 'null'] }, code: { type: ['string', 'null'] } }),
  }),
  Server: object({ name: text, version: text, extensions: list(text) }),
  TensorMetadata: object({
    name: text,
    datatype: { ...text, description: 'empty where it is not known yet' },
    shape: { ...SHAPE, description: '-1 is any size' },
  }),
  Model: object({
    name: text,
    versions: list(text),
    platform: text,
    inputs: list(named('TensorMetadata')),
    outputs: list(named('TensorMetadata')),
  }),
  Models: object({ models: list(object({ name: text, version: text, state: named('State'), reason: text })) }),
  State: { type: 'string', enum: ['READY', 'LOADING', 'UNAVAILABLE'] },
  Statistics: object({
    model_stats: list(object({ name: text, version: text, last_inference: count, inference_count: count, execution_count: count })),
  }),
  Tensor: object({ name: text, datatype: DATATYPE, shape: SHAPE, 'data?': DATA, 'parameters?': PARAMETERS }),
  InferRequest: object({
    'id?': text,
    inputs: list(named('Tensor')),
    'outputs?': list(object({ name: text, 'parameters?': PARAMETERS })),
    'parameters?': PARAMETERS,
  }),
  InferAnswer: object({ model_name: text, model_version: text, 'id?': text, outputs: list(named('Tensor')) }),
  GenerateRequest: object({ 'id?': text, text_input: text, 'parameters?': PARAMETERS }),
  GenerateAnswer: object({ 'id?': text, model_name: text, model_version: text, text_output: text }),
  LanguageModel: object({ id: text, object: text, created: count, owned_by: text }),
  CompletionRequest: object({
    model: text,
    prompt: { oneOf: [text, list(text), list({ type: 'integer' }), list(list({ type: 'integer' }))] },
    ...SAMPLING,
    'logprobs?': { type: 'integer', minimum: 0, maximum: 20 },
  }),
  ChatRequest: object({
    model: text,
    messages: list(object({ role: text, 'content?': { oneOf: [text, list({ type: 'object' }), { type: 'null' }] } })),
    'tools?': list({ type: 'object' }),
    'tool_choice?': { type: 'string', enum: ['auto', 'none'] },
    ...SAMPLING,
    'logprobs?': flag,
    'top_logprobs?': { type: 'integer', minimum: 0, maximum: 20 },
  }),
  EmbeddingsRequest: object({
    model: text,
    input: { oneOf: [text, list(text), list({ type: 'integer' }), list(list({ type: 'integer' }))] },
    'encoding_format?': { type: 'string', enum: ['float', 'base64'] },
  }),
  Usage: object({ prompt_tokens: count, 'completion_tokens?': count, total_tokens: count }),
  Completion: object({ id: text, object: text, created: count, model: text, choices: list({ type: 'object' }), 'usage?': named('Usage') }),
  Embeddings: object({ object: text, model: text, data: list({ type: 'object' }), usage: named('Usage') }),
}

const INFER = [400, 404, 413, 415, 503, 504]

function perVersion(operations: readonly Operation[]): Operation[] {
  return operations.flatMap((each) => [each, { ...each, path: each.path.replace('{model}', '{model}/versions/{version}') }])
}

const OPERATIONS: readonly Operation[] = [
  { method: 'get', path: '/v2', tag: 'server', summary: 'Name, version and extensions', answer: named('Server') },
  { method: 'get', path: '/v2/health/live', tag: 'server', summary: 'The process answers', answer: object({ live: flag }), isOpen: true },
  {
    ...{ method: 'get', path: '/v2/health/ready', tag: 'server', summary: 'All models are loaded', isOpen: true },
    answer: object({ ready: flag }),
    errors: [503],
  },
  { method: 'get', path: '/metrics', tag: 'server', summary: 'Metrics for Prometheus', answer: text, type: 'text/plain' },
  { method: 'get', path: '/v2/models', tag: 'models', summary: 'The models of the repository, and their state', answer: named('Models') },
  { method: 'get', path: '/v2/models/stats', tag: 'models', summary: 'Statistics of all models', answer: named('Statistics') },
  ...perVersion([
    {
      method: 'get',
      path: '/v2/models/{model}',
      tag: 'models',
      summary: 'What a model takes and gives',
      answer: named('Model'),
      errors: [404],
    },
    {
      ...{ method: 'get', path: '/v2/models/{model}/ready', tag: 'models', summary: 'The model answers' },
      answer: object({ name: text, ready: flag }),
      errors: [503],
    },
    {
      method: 'get',
      path: '/v2/models/{model}/stats',
      tag: 'models',
      summary: 'Its statistics',
      answer: named('Statistics'),
      errors: [404],
    },
    {
      ...{ method: 'post', path: '/v2/models/{model}/infer', tag: 'inference', summary: 'Runs a model with tensors' },
      ...{ body: named('InferRequest'), answer: named('InferAnswer'), errors: INFER },
    },
    {
      ...{ method: 'post', path: '/v2/models/{model}/generate', tag: 'language models', summary: 'Continues a text' },
      ...{ body: named('GenerateRequest'), answer: named('GenerateAnswer'), errors: INFER },
    },
    {
      ...{
        method: 'post',
        path: '/v2/models/{model}/generate_stream',
        tag: 'language models',
        summary: 'Continues a text, token by token',
      },
      ...{ body: named('GenerateRequest'), answer: text, type: 'text/event-stream', errors: INFER },
    },
  ]),
  {
    method: 'get',
    path: '/v1/models',
    tag: 'language models',
    summary: 'The language models',
    answer: object({ object: text, data: list(named('LanguageModel')) }),
  },
  {
    method: 'get',
    path: '/v1/models/{model}',
    tag: 'language models',
    summary: 'A language model',
    answer: named('LanguageModel'),
    errors: [404],
  },
  {
    ...{ method: 'post', path: '/v1/completions', tag: 'language models', summary: 'Continues a text' },
    ...{ body: named('CompletionRequest'), answer: named('Completion'), errors: INFER },
  },
  {
    ...{ method: 'post', path: '/v1/chat/completions', tag: 'language models', summary: 'Goes on with a chat' },
    ...{ body: named('ChatRequest'), answer: named('Completion'), errors: INFER },
  },
  {
    ...{ method: 'post', path: '/v1/embeddings', tag: 'language models', summary: 'Vectors of texts' },
    ...{ body: named('EmbeddingsRequest'), answer: named('Embeddings'), errors: INFER },
  },
  ...(['transcriptions', 'translations'] as const).map((kind): Operation => ({
    ...{ method: 'post', path: `/v1/audio/${kind}`, tag: 'language models', isForm: true, answer: object({ text }), errors: INFER },
    summary: kind === 'transcriptions' ? 'What is said in a recording' : 'What is said in a recording, in English',
    body: object({
      model: text,
      file: { type: 'string', contentMediaType: 'audio/wav' },
      'language?': text,
      'prompt?': text,
      'response_format?': text,
    }),
  })),
  {
    ...{ method: 'post', path: '/v2/repository/index', tag: 'repository', summary: 'The models of the repository, and their state' },
    body: object({ 'ready?': flag }),
    answer: list(object({ name: text, version: text, state: named('State'), reason: text })),
    errors: [400],
  },
  ...(['load', 'unload'] as const).map((action): Operation => ({
    ...{ method: 'post', path: `/v2/repository/models/{model}/${action}`, tag: 'repository', answer: { type: 'object' } },
    summary: action === 'load' ? 'Loads a model, or loads it again' : 'Unloads a model',
    body: { type: 'object' },
    errors: [400, 404],
  })),
]

const ERRORS: Readonly<Record<number, string>> = {
  400: 'The request makes no sense, or the model raised an error',
  401: 'No token of this server',
  404: 'There is no such model or version',
  413: 'The body is too large',
  415: 'The body is compressed in a way that the server does not know',
  503: 'Too much is waiting, or the model is not there yet',
  504: 'Not answered within its time',
}

/** What the server answers, as OpenAPI 3.1 has it. `needsToken`: requests need a bearer token. */
export function openApiDocument(needsToken: boolean): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const each of OPERATIONS) (paths[each.path] ??= {})[each.method] = described(each, needsToken)
  return {
    openapi: '3.1.0',
    info: {
      title: 'ptlite serve',
      version: SERVE_VERSION,
      description: 'Models over the Open Inference Protocol (v2), and language models over the interface of OpenAI, too.',
      license: { name: 'BSD-3-Clause', identifier: 'BSD-3-Clause' },
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: SCHEMAS,
      ...(needsToken ? { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } } : {}),
    },
    ...(needsToken ? { security: [{ token: [] }] } : {}),
  }
}

function described(
  { path, method, tag, summary, body, isForm, answer, type, errors = [], isOpen }: Operation,
  needsToken: boolean,
): object {
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: text }))
  const error = named(path.startsWith('/v1/') ? 'ApiError' : 'Error')
  const statuses = [...(needsToken && isOpen !== true ? [401] : []), ...errors]
  const failures = statuses.map((status): [number, object] => [
    status,
    { description: ERRORS[status], content: { 'application/json': { schema: error } } },
  ])
  return {
    operationId: `${method} ${path}`.replace(/\W+/g, '_').replace(/_$/, ''),
    ...{ tags: [tag], summary },
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { [isForm === true ? 'multipart/form-data' : 'application/json']: { schema: body } } } }),
    responses: {
      200: { description: summary, content: { [type ?? 'application/json']: { schema: answer } } },
      ...(Object.fromEntries(failures) as Record<number, object>),
    },
    ...(needsToken && isOpen === true ? { security: [] } : {}),
  }
}
