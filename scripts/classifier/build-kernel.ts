/** Compiles the kernel of the classifier from AssemblyScript. The same source gives the same bytes. */
import { readFile } from 'node:fs/promises'
import { kernelFile } from '../../src/adapters/classifiers/embedded/kernel/load.ts'

/** The compiler's own types redefine globals such as `console`, so its package is imported without them. */
type Compiler = {
  main(
    options: readonly string[],
    files: {
      readFile(name: string): Promise<string | null>
      writeFile(name: string, contents: Uint8Array | string): void
      listFiles(): readonly string[]
    },
  ): Promise<{ readonly error: Error | null; readonly stderr: { toString(): string } }>
}
const compilerPackage: string = 'assemblyscript/asc'

const options = ['--runtime=stub', '--optimizeLevel=3', '--shrinkLevel=1', '--converge', '--noAssert', '--enable=simd']

/** Sources end in `.as`, so that the tools for TypeScript leave them alone; the compiler asks for `.ts`. */
const readSource = (name: string): Promise<string | null> =>
  readFile(new URL(name.replace(/\.ts$/, '.as'), kernelFile), 'utf8').catch(() => null)

export async function buildKernel(): Promise<Uint8Array> {
  const compiler: Compiler = await import(compilerPackage)
  const written = new Map<string, Uint8Array | string>()
  const { error, stderr } = await compiler.main(
    ['kernel.ts', '--outFile=kernel.wasm', '--baseDir=.', '--use=abort=', ...options],
    {
      readFile: readSource,
      writeFile: (name, contents) => void written.set(name, contents),
      listFiles: () => [],
    },
  )
  const built = written.get('kernel.wasm')
  if (error !== null || !(built instanceof Uint8Array))
    throw new Error(`The kernel does not compile.\n${stderr.toString()}`)
  return built
}
