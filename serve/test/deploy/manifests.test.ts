import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import type { Manifest } from '../../deploy/validate.mjs'
import { REPOSITORY, started } from '../support/started.js'

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string | number }
}

interface Container {
  readonly name: string
  readonly args: readonly string[]
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[]
  readonly env: readonly { readonly name: string; readonly valueFrom: { readonly resourceFieldRef: { readonly containerName: string } } }[]
  readonly resources: { readonly limits: { readonly cpu: string } }
  readonly startupProbe: Probe
  readonly readinessProbe: Probe
  readonly livenessProbe: Probe
  readonly securityContext: Readonly<Record<string, unknown>>
  readonly lifecycle?: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } }
}

interface Pod {
  readonly terminationGracePeriodSeconds: number
  readonly securityContext: Readonly<Record<string, unknown>>
  readonly containers: readonly Container[]
}

type Fields = Readonly<Record<string, unknown>>

// from where it stands: it finds its folder and its packages there
const { manifests, Schemas } = (await import(
  new URL('../../deploy/validate.mjs', import.meta.url).href
)) as typeof import('../../deploy/validate.mjs')

const all = manifests()
const METRIC = 'ptlite_serve_queue_depth'
const dockerfile = readFileSync(fileURLToPath(new URL('../../deploy/Dockerfile', import.meta.url)), 'utf8')

/** The manifest of a kind, whose `spec` is of a type that the caller knows. */
function only<Spec>(kind: string): { readonly spec: Spec; readonly name: string } {
  const found = all.filter(({ manifest }) => manifest.kind === kind)
  if (found.length !== 1) throw new Error(`there are ${found.length} of ${kind}`)
  return { spec: found[0]!.manifest['spec'] as Spec, name: found[0]!.manifest.metadata.name }
}

const deployment = only<{
  readonly selector: { readonly matchLabels: Fields }
  readonly strategy: { readonly rollingUpdate: Fields }
  readonly template: { readonly metadata: { readonly labels: Fields }; readonly spec: Pod }
}>('Deployment')
const pod = deployment.spec.template.spec
const runtime = only<Pod & { readonly protocolVersions: readonly string[] }>('ServingRuntime')
const service = only<{ readonly predictor: { readonly minReplicas: number; readonly model: Fields } }>('InferenceService')

t.test('what names another is right', (t) => {
  const labels = deployment.spec.selector.matchLabels
  t.strictSame(deployment.spec.template.metadata.labels, labels)
  t.strictSame(only<{ selector: { matchLabels: Fields } }>('PodDisruptionBudget').spec.selector.matchLabels, labels)
  const { selector, ports } = only<{ selector: Fields; ports: readonly { targetPort: string }[] }>('Service').spec
  t.strictSame(selector, labels)
  const names = pod.containers[0]!.ports!.map(({ name }) => name)
  t.ok(ports.every(({ targetPort }) => names.includes(targetPort)))
  for (const kind of ['HorizontalPodAutoscaler', 'ScaledObject'])
    t.equal(only<{ scaleTargetRef: { name: string } }>(kind).spec.scaleTargetRef.name, deployment.name, kind)
  t.equal(service.spec.predictor.model['runtime'], runtime.name)
  t.ok(runtime.spec.protocolVersions.includes(String(service.spec.predictor.model['protocolVersion'])))
  // KServe puts the model's address and volumes into the container of this name
  t.equal(runtime.spec.containers[0]!.name, 'kserve-container')
  for (const { name, env } of [...pod.containers, ...runtime.spec.containers])
    t.equal(env[0]!.valueFrom.resourceFieldRef.containerName, name)
  t.end()
})

t.test('pods run as the image does, without rights, and end in their own time', (t) => {
  const [, user] = /^USER (\d+):/m.exec(dockerfile)!
  for (const { securityContext } of [...pod.containers, ...runtime.spec.containers]) {
    const { runAsUser, runAsNonRoot, ...context } = { ...pod.securityContext, ...securityContext }
    t.strictSame([runAsUser, runAsNonRoot], [Number(user), true])
    t.match(context, {
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    })
  }
  const [container] = pod.containers
  const drain = Number(/^--drain=(\d+)$/.exec(container!.args.find((each) => each.startsWith('--drain='))!)![1])
  const pause = Number(/(\d+)\)$/.exec(container!.lifecycle!.preStop.exec.command.at(-1)!)![1])
  t.ok(pod.terminationGracePeriodSeconds * 1000 >= drain + pause + 5000)
  t.strictSame(deployment.spec.strategy.rollingUpdate, { maxUnavailable: 0, maxSurge: 1 })
  t.ok(service.spec.predictor.minReplicas >= 2, 'one may go')
  t.end()
})

t.test('the recipe of the image', (t) => {
  t.equal(dockerfile.match(/^FROM /gm)!.length, 2, 'what builds it is not in it')
  t.match(dockerfile, /^HEALTHCHECK .*CMD \["\/usr\/bin\/node", "\/app\/healthcheck\.mjs"\]$/m)
  const [, exposed] = /^EXPOSE (.*)$/m.exec(dockerfile)!
  t.strictSame(
    exposed!.split(' ').map(Number),
    pod.containers[0]!.ports!.map(({ containerPort }) => containerPort),
  )
  const [, command] = /^CMD (.*)$/m.exec(dockerfile)!
  t.strictSame((JSON.parse(command!) as string[]).slice(1), ['--host', '0.0.0.0', '--port', '8080', '--grpc-port', '9000'])
  t.end()
})

t.test('the server takes the arguments, answers the probes and has the metric', async (t) => {
  const cases: [Container, string][] = [
    [pod.containers[0]!, REPOSITORY],
    [runtime.spec.containers[0]!, `${REPOSITORY}/echo`],
  ]
  for (const [container, folder] of cases) {
    const options = container.args
      .slice(1)
      .filter((each) => !/^--(host|port|grpc-port)=/.test(each))
      .map((each) => each.replace('$(CPUS)', container.resources.limits.cpu).replace('{{.Name}}', 'mobilenet'))
    const { url } = await started(t, options, folder)
    for (const { httpGet } of [container.startupProbe, container.readinessProbe, container.livenessProbe]) {
      t.equal((await fetch(url + httpGet.path)).status, 200, httpGet.path)
      t.equal(
        typeof httpGet.port === 'number' ? httpGet.port : container.ports!.find(({ name }) => name === httpGet.port)!.containerPort,
        8080,
      )
    }
    const model = container.name === 'server' ? 'echo' : 'mobilenet'
    const { status } = await fetch(`${url}/v2/models/${model}/infer`, {
      method: 'POST',
      body: '{"inputs":[{"name":"x","shape":[1,4],"datatype":"FP32","data":[1,2,3,4]}]}',
    })
    t.equal(status, 200)
    t.match(await (await fetch(`${url}/metrics`)).text(), new RegExp(`^${METRIC}\\{.*model="${model}".*\\} 0$`, 'm'))
  }
  const { spec } = only<{ metrics: readonly { pods: { metric: { name: string } } }[] }>('HorizontalPodAutoscaler')
  t.equal(spec.metrics[0]!.pods.metric.name, METRIC)
  const others = all.filter(({ manifest: { kind } }) => ['ScaledObject', 'InferenceService', 'ConfigMap'].includes(kind))
  for (const { file, manifest } of others) t.match(JSON.stringify(manifest), new RegExp(METRIC), file)
})

t.test('the validator finds what is wrong', (t) => {
  const schema = {
    type: 'object',
    required: ['spec'],
    properties: {
      ...{ apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' } },
      spec: {
        type: 'object',
        properties: {
          size: { type: 'integer', format: 'int32', minimum: 1 },
          port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
          labels: { type: 'object', additionalProperties: { type: 'string' } },
          any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    },
  }
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    spec: { group: 'example.org', names: { kind: 'Thing' }, versions: [{ name: 'v1', schema: { openAPIV3Schema: schema } }] },
  }
  const schemas = new Schemas()
  // JSON is YAML
  schemas.add(t.testdir({ 'thing.yaml': JSON.stringify(definition) }))
  const thing = (spec: object): Manifest => ({ apiVersion: 'example.org/v1', kind: 'Thing', metadata: { name: 'a' }, spec })
  t.strictSame(schemas.faults(thing({ size: 1, port: 'http', labels: { a: 'b' }, any: { a: 1 } })), [])
  t.strictSame(schemas.faults(thing({ port: 80 })), [])
  for (const [spec, wrong] of [
    [{ size: 0 }, /\/spec\/size/],
    [{ size: '1' }, /\/spec\/size/],
    [{ sise: 1 }, /sise/],
    [{ port: true }, /\/spec\/port/],
    [{ labels: { a: 1 } }, /\/spec\/labels\/a/],
  ] as const)
    t.match(schemas.faults(thing(spec))?.join(), wrong)
  t.equal(schemas.faults({ ...thing({}), kind: 'Other' }), undefined)
  t.end()
})
