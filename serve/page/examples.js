/** Elements of an example that are written out. */
const MOST = 4096

/**
 * A body for a request, made of what is known of a model.
 * @param {string} path of the operation @param {string} model @param {{ inputs?: { name: string, datatype: string, shape: number[] }[] } | null} metadata
 */
export function exampleBody(path, model, metadata) {
  if (path.endsWith('/infer')) return { inputs: (metadata?.inputs ?? []).map(exampleTensor) }
  if (/\/generate(_stream)?$/.test(path)) return { text_input: 'Once upon a time', parameters: { max_tokens: 20 } }
  if (path === '/v1/completions') return { model, prompt: 'Once upon a time', max_tokens: 20 }
  if (path === '/v1/chat/completions') return { model, messages: [{ role: 'user', content: 'Why is the sky blue?' }], max_tokens: 50 }
  if (path === '/v1/embeddings') return { model, input: ['a text'] }
  return {}
}

function exampleTensor({ name, datatype, shape }) {
  const sizes = shape.map((size) => (size === -1 ? 1 : size))
  const count = sizes.reduce((product, size) => product * size, 1)
  const value = datatype === 'BOOL' ? false : datatype === 'BYTES' ? '' : 0
  // larger ones are for programs
  return { name, datatype: datatype || 'FP32', shape: sizes, data: count <= MOST ? Array(count).fill(value) : [] }
}
