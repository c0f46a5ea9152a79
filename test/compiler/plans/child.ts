import { cpu } from '../../../src/index.js'
import { comparePlan, fixtureSamples } from './compare.js'

/** Compares the plans of all fixtures at the level that ATEN_CPU_CAPABILITY sets, and prints how. */
const comparisons = []
for (const sample of fixtureSamples().filter(({ name }) => !name.includes('.mobile'))) comparisons.push(await comparePlan(sample))
console.log(JSON.stringify({ level: cpu.currentLevel(), comparisons }))
