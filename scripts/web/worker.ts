import { relative } from 'node:path'
import { build, type Plugin } from 'esbuild'

/** Bundles the program of workers, which imports the library as its users do: beside it, in the folder above. */
export async function buildWorker(root: string, outfile: string): Promise<void> {
  const library: Plugin = {
    name: 'the library',
    setup(builder) {
      builder.onResolve({ filter: /\/index\.js$/ }, ({ importer }) =>
        relative(root, importer).startsWith('web/worker/') ? { path: '../web.js', external: true } : undefined,
      )
    },
  }
  await build({
    entryPoints: [`${root}/web/worker/main.ts`],
    absWorkingDir: root,
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    minify: true,
    legalComments: 'none',
    plugins: [library],
  })
}
