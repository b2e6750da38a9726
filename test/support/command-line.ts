import { join } from 'node:path'
import { runCommandLine } from '../../src/cli/run.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** The command line in this process, on its own data folder, with its standard output and standard error. */
export async function openCommandLine() {
  const folder = await temporaryFolder()
  const dataDir = join(folder.path, 'data')
  const call = async (...args: string[]) => {
    const output: string[] = []
    const errors: string[] = []
    const status = await runCommandLine(args, {
      env: { GATEHOUSE_DATA_DIR: dataDir, GATEHOUSE_LOG_LEVEL: 'silent' },
      print: (line) => void output.push(line),
      printError: (line) => void errors.push(line),
      confirm: async () => false,
    })
    return { status, output: output.join('\n'), errors: errors.join('\n') }
  }
  return {
    folder: folder.path,
    dataDir,
    call,
    json: async (...args: string[]) => JSON.parse((await call(...args, '--json')).output),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}
