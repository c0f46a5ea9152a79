const SPEC = 'Triton, Model Repository Extension'

/** Whether a model is ready, after up to five seconds of waiting for it to be as `wanted`. */
async function becomes(s, wanted) {
  for (let left = 50; left > 0; left--) {
    const { status, json } = await s.send(s.get(`${s.path}/ready`))
    if ((status === 200 && json?.ready === true) === wanted) return true
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return false
}

const rows = [
  {
    section: `${SPEC}: Index`,
    rule: 'the index names every model, with its state',
    request: (s) => s.post('v2/repository/index', {}),
    status: 200,
    answer: 'INDEX',
    check: ({ json }, s) =>
      json.some(({ name, state }) => name === s.name && state === 'READY') ? undefined : `${s.name} is not READY in it`,
  },
  {
    section: `${SPEC}: Index`,
    rule: 'with `ready` those alone that take requests',
    request: (s) => s.post('v2/repository/index', { ready: true }),
    status: 200,
    answer: 'INDEX',
    check: ({ json }) => json.find(({ state }) => state !== 'READY')?.name,
  },
  {
    section: `${SPEC}: Load`,
    rule: 'an unknown model cannot be loaded',
    request: (s) => s.post('v2/repository/models/no-such-model/load', {}),
    status: '4xx',
    answer: 'ERROR',
  },
  {
    section: `${SPEC}: Load`,
    rule: 'nor one outside of the repository',
    request: (s) => s.post('v2/repository/models/..%2F..%2Fetc/load', {}),
    status: '4xx',
  },
  {
    section: `${SPEC}: Unload`,
    rule: 'a model that is unloaded takes no requests, and one that is loaded does again',
    changes: true,
    async run(s) {
      const unload = await s.send(
        s.post(`v2/repository/models/${encodeURIComponent(s.name)}/unload`, { parameters: { unload_dependents: false } }),
      )
      if (unload.status !== 200) return `unload: status ${unload.status}: ${unload.body}`
      if (!(await becomes(s, false))) return 'it is ready after unload'
      const refused = await s.send(s.inferBinary())
      if (refused.status < 400 || typeof refused.json?.error !== 'string')
        return `an inference then has status ${refused.status}: ${refused.body}`
      const index = await s.send(s.post('v2/repository/index', {}))
      if (!index.json.some(({ name, state }) => name === s.name && state !== 'READY')) return 'the index does not have it as unloaded'
      const load = await s.send({ method: 'POST', path: `v2/repository/models/${encodeURIComponent(s.name)}/load`, headers: s.headers })
      if (load.status !== 200) return `load without a body: status ${load.status}: ${load.body}`
      if (!(await becomes(s, true))) return 'it is not ready after load'
      const again = await s.send(s.inferBinary())
      return again.status === 200 ? undefined : `an inference then has status ${again.status}: ${again.body}`
    },
  },
  {
    section: `${SPEC}: Load`,
    rule: 'a model that is loaded can be loaded again',
    changes: true,
    request: (s) => s.post(`v2/repository/models/${encodeURIComponent(s.name)}/load`, { parameters: {} }),
    status: 200,
  },
]

export const rules = rows.map((row) => ({ extension: 'model_repository', ...row }))
