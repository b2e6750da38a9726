import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { without } from './agent.ts'
import { interpreterOf, withoutPython, type PythonEnvironment } from './python.ts'

const root = join(import.meta.dirname, '../../..')
const packages = join(import.meta.dirname, 'node_modules')

/** The client guides. The guides to the gateway itself have their own test. */
const pages = globSync(join(root, 'docs/guide/{*-sdk,*-frameworks,claude-code,codex,langchain}.md'))

type Block = { readonly language: string; readonly code: string }

const blocksOf = (page: string): Block[] =>
  Array.from(readFileSync(page, 'utf8').matchAll(/^```(\w+)\n(.*?)^```$/gms), ([, language = '', code = '']) => ({
    language,
    code,
  }))

/** The commands of the pages, and how this project runs them. */
const commands: Readonly<Record<string, string>> = {
  claude: '@anthropic-ai/claude-code/cli-wrapper.cjs',
  codex: '@openai/codex/bin/codex.js',
}

/** Some frameworks need an older version of the official clients. */
const environmentOf = (code: string): PythonEnvironment =>
  /^(import|from) (instructor|litellm|llama_index)/m.test(code) ? 'older' : 'newest'

const unrunnable = (page: string, { language, code }: Block): string | false => {
  if (language === 'python') return withoutPython(environmentOf(code))
  const [command] = Object.keys(commands).filter((name) => basename(page).startsWith(name))
  return command === undefined ? false : without(commands[command] ?? '')
}

describe('the client guides', { timeout: 10 * 60_000 }, () => {
  let app: TestApp
  before(async () => void (app = await startTestApp()))
  after(() => app[Symbol.asyncDispose]())

  for (const page of pages) {
    const blocks = blocksOf(page)
    for (const [at, block] of blocks.entries()) {
      const { language, code } = block
      if (!['js', 'python', 'sh'].includes(language)) continue
      it(`${basename(page)}, snippet ${at + 1}, runs unchanged`, { skip: unrunnable(page, block) }, async () => {
        const here = (source: string): string => source.replaceAll('http://127.0.0.1:8080', app.url)
        const config = blocks.find((block) => block.language === 'toml')?.code ?? ''
        const output = await run({ language, code: here(code), config: here(config), key: app.apiKey })
        assert.match(output, outputOf(code))
      })
    }
  }
})

/** Model requests get an echo response, moderation requests get verdicts, and a client for objects gets one. */
function outputOf(code: string): RegExp {
  if (code.includes('.moderations.')) return /\[ (true|false), /
  return code.includes('import instructor') ? /city='Rome'/ : /\[gatehouse-echo\]/
}

type Snippet = Block & { readonly config: string; readonly key: string }

/** Runs a snippet with an empty home folder and only the setup that its page describes. */
async function run({ language, code, config, key }: Snippet): Promise<string> {
  await using home = await temporaryFolder()
  mkdirSync(join(home.path, '.codex'))
  mkdirSync(join(home.path, 'bin'))
  writeFileSync(join(home.path, '.codex/config.toml'), config)
  for (const [name, script] of Object.entries(commands)) {
    const path = join(home.path, 'bin', name)
    writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${join(packages, script)}' "$@"\n`)
    chmodSync(path, 0o755)
  }
  const nowhere = 'http://127.0.0.1:9'
  const env = {
    PATH: `${join(home.path, 'bin')}:${process.env['PATH']}`,
    HOME: home.path,
    GATEHOUSE_KEY: key,
    HTTPS_PROXY: nowhere,
    HTTP_PROXY: nowhere,
    NO_PROXY: '127.0.0.1',
  }
  const [command, ...args] = commandFor(language, code)
  const child = spawn(command, args, { cwd: import.meta.dirname, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [output, complaints] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  assert.equal(child.exitCode, 0, output + complaints)
  return output
}

function commandFor(language: string, code: string): [string, ...string[]] {
  if (language === 'js') return [process.execPath, '--input-type=module', '--eval', code]
  if (language === 'python') return [interpreterOf(environmentOf(code)), '-c', code]
  return ['bash', '-euc', code]
}
