/** What programs call of it. */
export { generate } from './generate.js'
export { openSession } from './session.js'
export { loadTokenizer } from './text/chat-tokenizer.js'
export { embed } from './embeddings/embed.js'
export { nearestVectors, roundVectors } from './embeddings/nearest.js'
