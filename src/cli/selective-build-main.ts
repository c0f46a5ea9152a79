#!/usr/bin/env node
import { execute } from './execute.js'
import { selectiveBuild } from './selective-build.js'

process.exitCode = await execute(selectiveBuild, process.argv.slice(2), '')
