/**
 * Validates the manifests of this folder against schemas that are not part of it:
 *   node serve/deploy/validate.mjs SCHEMAS...
 * Each of them is a file or folder of CustomResourceDefinitions (YAML), of KServe or KEDA, or Kubernetes' own OpenAPI document (JSON). Fields that a
 * schema does not have are errors, though an API server passes over them. The status is 1 where a manifest is wrong, or no schema was found for it.
 */
import { Ajv } from 'ajv'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'

/** Schemas by apiVersion and kind. */
export class Schemas {
  #validators = new Map()
  #ajv = new Ajv({
    strict: false,
    allErrors: true,
    formats: { int32: true, int64: true, double: true, byte: true, 'date-time': true, 'int-or-string': true },
  })

  add(path) {
    if (statSync(path).isDirectory()) for (const name of readdirSync(path)) this.add(join(path, name))
    else if (/\.ya?ml$/.test(path)) for (const each of documentsOf(path)) this.#addDefinition(each)
    else if (path.endsWith('.json')) this.#addOpenApi(JSON.parse(readFileSync(path, 'utf8')))
  }

  #addDefinition(definition) {
    if (definition?.kind !== 'CustomResourceDefinition') return
    const { group, names, versions } = definition.spec
    for (const { name, schema } of versions)
      this.#validators.set(`${group}/${name} ${names.kind}`, () => this.#ajv.compile(closed(schema.openAPIV3Schema)))
  }

  #addOpenApi({ definitions }) {
    if (definitions === undefined) return
    const all = closed({ definitions })
    for (const [name, definition] of Object.entries(definitions))
      for (const { group, kind, version } of definition['x-kubernetes-group-version-kind'] ?? [])
        this.#validators.set(`${group === '' ? '' : `${group}/`}${version} ${kind}`, () =>
          this.#ajv.compile({ $ref: `#/definitions/${name.replaceAll('/', '~1')}`, definitions: all.definitions }),
        )
  }

  /** What is wrong with a manifest: a list of lines, or undefined where there is no schema for it. */
  faults(manifest) {
    const validator = this.#validators.get(`${manifest.apiVersion} ${manifest.kind}`)?.()
    if (validator === undefined) return undefined
    if (validator(manifest)) return []
    return validator.errors.map(({ instancePath, message, params }) => `${instancePath}: ${message} ${JSON.stringify(params)}`)
  }
}

/** Kubernetes' dialect as JSON schema, where an object that lists its fields has no others. */
function closed(schema) {
  if (typeof schema !== 'object' || schema === null) return schema
  if (Array.isArray(schema)) return schema.map(closed)
  const copy = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      const isTable = key === 'properties' || key === 'definitions'
      return [key, isTable ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, closed(each)])) : closed(value)]
    }),
  )
  if (copy['x-kubernetes-int-or-string'] === true || copy.format === 'int-or-string') {
    delete copy.type
    copy.anyOf = [{ type: 'integer' }, { type: 'string' }]
  }
  // what lists no fields, as metadata in definitions, may have any
  const isOpen = copy['x-kubernetes-preserve-unknown-fields'] === true || Object.keys(copy.properties ?? {}).length === 0
  if (!isOpen) copy.additionalProperties ??= false
  return copy
}

export function documentsOf(path) {
  return parseAllDocuments(readFileSync(path, 'utf8')).map((document) => {
    if (document.errors.length > 0) throw new Error(`${path}: ${document.errors[0].message}`)
    return document.toJS()
  })
}

/** Every manifest of this folder, with the file that it is in. */
export function manifests() {
  return ['kserve', 'kubernetes'].flatMap((folder) =>
    readdirSync(join(import.meta.dirname, folder)).flatMap((name) => {
      const path = join(import.meta.dirname, folder, name)
      return documentsOf(path).map((manifest) => ({ file: `${folder}/${name}`, manifest }))
    }),
  )
}

if (process.argv[1] === import.meta.filename) {
  const schemas = new Schemas()
  if (process.argv.length === 2) {
    console.error('usage: node serve/deploy/validate.mjs SCHEMAS...')
    process.exit(2)
  }
  for (const path of process.argv.slice(2)) schemas.add(path)
  for (const { file, manifest } of manifests()) {
    const faults = schemas.faults(manifest)
    const name = `${file}: ${manifest.apiVersion} ${manifest.kind}`
    console.log(faults === undefined ? `no schema  ${name}` : faults.length > 0 ? `wrong      ${name}` : `valid      ${name}`)
    for (const fault of faults ?? []) console.log(`           ${fault}`)
    if (faults === undefined || faults.length > 0) process.exitCode = 1
  }
}
