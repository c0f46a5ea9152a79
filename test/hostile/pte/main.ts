import { fuzzCommand } from '../harness/command.js'

await fuzzCommand('pte')
