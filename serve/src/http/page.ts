import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { openApiDocument } from './openapi.js'

const FILES = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/page/style.css': ['style.css', 'text/css; charset=utf-8'],
  '/page/main.js': ['main.js', 'text/javascript; charset=utf-8'],
  '/page/metrics.js': ['metrics.js', 'text/javascript; charset=utf-8'],
  '/page/examples.js': ['examples.js', 'text/javascript; charset=utf-8'],
} as const

/** Nothing that a model or its file is called can bring code along. */
const POLICY = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Paths of files that hold nothing of the server's: a browser has no token before it has the page. */
export function isPublic(path: string): boolean {
  return Object.hasOwn(FILES, path)
}

/** The page of the server, which shows its models and tries requests, and what the server answers as OpenAPI has it. */
export function pageRoutes(app: FastifyInstance, needsToken: boolean): void {
  for (const [path, [file, type]] of Object.entries(FILES)) {
    const content = readFileSync(new URL(`./page/${file}`, import.meta.url))
    app.get(path, (_request, reply) => reply.type(type).header('Content-Security-Policy', POLICY).send(content))
  }
  const document = openApiDocument(needsToken)
  app.get('/openapi.json', () => document)
}
