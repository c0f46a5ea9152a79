import { realpath, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { isModelName } from './names.js'
import { type FaultyModel, type FoundModel, scanFolder, scanModel, scanRepository } from './scan.js'

/** What is to be the repository is no folder. */
export class FolderError extends Error {}

/** A folder of models, or the folder of one. */
export class Source {
  private constructor(
    private readonly root: string,
    private readonly modelName: string | null,
  ) {}

  /** `modelName`: the folder holds one model of this name. Rejects where there is no such folder. */
  static async open(folder: string, modelName: string | null): Promise<Source> {
    return new Source(await folderAt(folder), modelName)
  }

  async all(): Promise<Map<string, FoundModel | FaultyModel>> {
    const { modelName } = this
    if (modelName === null) return scanRepository(this.root)
    const only = await this.one(modelName)
    return new Map(only === null ? [] : [[modelName, only]])
  }

  async one(name: string): Promise<FoundModel | FaultyModel | null> {
    if (!isModelName(name)) return null
    if (this.modelName === null) return scanModel(this.root, name)
    if (name !== this.modelName) return null
    try {
      return await scanFolder(this.root, this.root, name)
    } catch (error) {
      return { name, fault: `${(error as Error).message} (${basename(this.root)})` }
    }
  }
}

async function folderAt(path: string): Promise<string> {
  let root: string
  try {
    root = await realpath(path)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new FolderError(code === 'ENOENT' ? `there is no folder '${path}'` : message, { cause: error })
  }
  if (!(await stat(root)).isDirectory()) throw new FolderError(`'${path}' is no folder; name the one that the model is in`)
  return root
}
