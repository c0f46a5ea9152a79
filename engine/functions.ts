/** What the chunk of models gives. */
export { openSource } from '../formats/containers/bytes.js'
export { openEngine } from './open.js'
