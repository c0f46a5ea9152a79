/** What programs call of it. */
export { ctcDecode } from './ctc/decode.js'
export { readArpa } from './ctc/arpa.js'
export { transcribe } from './transcribe.js'
