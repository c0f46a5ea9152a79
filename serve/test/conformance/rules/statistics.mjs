const SPEC = 'Triton, Statistics Extension'
const SECTION = `${SPEC}: Statistics Response JSON Object`

const rows = [
  {
    section: SPEC,
    rule: 'statistics of all models',
    request: (s) => s.get('v2/models/stats'),
    status: 200,
    answer: 'STATISTICS',
    check: ({ json }, s) => (json.model_stats.some(({ name }) => name === s.name) ? undefined : `${s.name} is not among them`),
  },
  {
    section: SPEC,
    rule: 'statistics of one model',
    request: (s) => s.get(`${s.path}/stats`),
    status: 200,
    answer: 'STATISTICS',
    check: ({ json }, s) =>
      json.model_stats.length > 0 && json.model_stats.every(({ name }) => name === s.name) ? undefined : `expected ${s.name} alone`,
  },
  {
    section: SPEC,
    rule: 'statistics of one version',
    when: (s) => s.version !== undefined,
    request: (s) => s.get(`${s.path}/versions/${s.version}/stats`),
    status: 200,
    answer: 'STATISTICS',
    check: ({ json }, s) =>
      json.model_stats.length === 1 && json.model_stats[0].version === s.version ? undefined : `expected version ${s.version} alone`,
  },
  {
    section: `${SPEC}: Statistics Response JSON Error Object`,
    rule: 'an unknown model has an error object',
    request: (s) => s.get('v2/models/no-such-model/stats'),
    status: '4xx',
    answer: 'ERROR',
  },
  {
    section: SECTION,
    rule: 'counts grow with each inference, and the last one has its time',
    async run(s) {
      const read = async () => {
        const { json } = await s.send(s.get(`${s.path}/stats`))
        return json.model_stats.find(({ version }) => version === s.version) ?? json.model_stats[0]
      }
      const before = await read()
      const from = Date.now()
      for (let i = 0; i < 3; i++) await s.send(s.inferBinary())
      const after = await read()
      const grown = (of) => of(after) - of(before)
      // somebody else may ask at the same time
      if (grown((each) => each.inference_stats.success.count) < 3)
        return `success.count grew by ${grown((each) => each.inference_stats.success.count)} in 3 inferences`
      if (grown((each) => each.inference_stats.success.ns) <= 0) return 'success.ns did not grow'
      if (grown((each) => each.inference_count) < 3) return `inference_count grew by ${grown((each) => each.inference_count)}`
      if (grown((each) => each.execution_count) < 1) return `execution_count grew by ${grown((each) => each.execution_count)}`
      // the clock of another machine may be off by some seconds
      if (Math.abs(after.last_inference - from) > 60_000)
        return `last_inference is ${after.last_inference}, expected milliseconds about ${from}`
      return undefined
    },
  },
]

export const rules = rows.map((row) => ({ extension: 'statistics', ...row }))
