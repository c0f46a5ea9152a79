/** What the chunk of the background thread gives. */
export { interpretInBackground } from './interpret.js'
export { fillMarks } from './messages.js'
