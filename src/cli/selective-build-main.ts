#!/usr/bin/env node
import { execute } from './execute.js'
import { selectiveBuild } from './selective-build.js'
import { endWithStreams } from './streams.js'

endWithStreams('selective-build')
process.exitCode = await execute(selectiveBuild, process.argv.slice(2), '')
