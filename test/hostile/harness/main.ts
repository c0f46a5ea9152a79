import { fuzzCommand } from './command.js'

/** `npm run fuzz -- TARGET`, for folders with a target.ts. */
await fuzzCommand(process.env['PTLITE_FUZZ_TARGET']!)
