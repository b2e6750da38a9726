import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, it } from 'node:test'
import projectFile from '../../package.json' with { type: 'json' }
import runtimeFile from '../../packages/runtime/package.json' with { type: 'json' }
import {
  argumentsOf,
  execForm,
  expand,
  instructionsOf,
  pairsIn,
  parseDockerfile,
  readDockerfile,
  type Dockerfile,
} from './image-dockerfile.ts'

/** A rule about the Dockerfile, and one that violates it. The planted violation proves that the rule can fail. */
type Rule = {
  readonly title: string
  readonly breaches: (file: Dockerfile) => string[]
  readonly planted: string
  readonly finds: readonly string[]
}

const allOf = ({ args, stages }: Dockerfile, ...keywords: readonly string[]) =>
  [...args, ...stages.flatMap(({ instructions }) => instructions)].filter(({ keyword }) => keywords.includes(keyword))
const lastOf = ({ stages }: Dockerfile, keyword: string) => instructionsOf(stages.at(-1), keyword).at(-1)

/** `.dockerignore` excludes everything that it does not name with `!`. */
const allowed = readFileSync('.dockerignore', 'utf8')
  .split('\n')
  .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []))
const isInContext = (path: string): boolean =>
  path === '.' || (allowed.includes(path.split('/')[0] ?? '') && existsSync(path))

const rules: readonly Rule[] = [
  {
    title: 'every base image is an argument with a tag or digest that is not latest, or an earlier stage',
    breaches: ({ args, stages }) =>
      stages.flatMap(({ base }, at) => {
        const isStage = stages.slice(0, at).some(({ name }) => name === base)
        const image = expand(base, argumentsOf(args))
        const isPinned =
          /@sha256:[0-9a-f]{64}$|:[\w.-]*\d[\w.-]*$|\d[\w.-]*:[\w.-]+$/.test(image) && !image.endsWith(':latest')
        return isStage || (base.startsWith('${') && isPinned) ? [] : [base]
      }),
    planted: 'ARG A=node:26\nARG B=node:latest\nARG C\nFROM ${A} AS a\nFROM ${B}\nFROM ${C}\nFROM a\nFROM node:26',
    finds: ['${B}', '${C}', 'node:26'],
  },
  {
    title: 'nothing is added from an address, and every file of the project that is copied is in the build context',
    breaches: (file) => [
      ...allOf(file, 'ADD').map(({ text }) => `ADD ${text}`),
      ...allOf(file, 'COPY')
        .filter(({ flags }) => flags['from'] === undefined)
        .flatMap(({ text }) => text.split(/\s+/).slice(0, -1))
        .filter((path) => !isInContext(path)),
    ],
    planted: 'FROM x\nADD https://example.com/a /a\nCOPY package.json gone.json data/ ./\nCOPY --from=build /app /app',
    finds: ['ADD https://example.com/a /a', 'gone.json', 'data/'],
  },
  {
    title: 'every file of the project keeps its path in the build stage',
    breaches: (file) =>
      allOf(file, 'COPY')
        .filter(({ flags }) => flags['from'] === undefined)
        .map(({ text }) => text.split(/\s+/))
        .filter((words) => words.slice(0, -1).some((path) => ![path, `${dirname(path)}/`].includes(words.at(-1) ?? '')))
        .map((words) => words.join(' ')),
    planted: 'FROM x\nCOPY a.json b.json ./\nCOPY . .\nCOPY c/ c/\nCOPY c/d.json c/\nCOPY c/e.json ./\nCOPY c/ d/',
    finds: ['c/e.json ./', 'c/ d/'],
  },
  {
    title: 'what is copied from a stage comes from a stage that exists',
    breaches: ({ stages }) =>
      stages
        .flatMap((stage) => instructionsOf(stage, 'COPY'))
        .flatMap(({ flags: { from } }) =>
          from === undefined || stages.some(({ name }) => name === from) ? [] : [from],
        ),
    planted: 'FROM x AS build\nFROM y\nCOPY --from=build /a /a\nCOPY --from=biuld /b /b',
    finds: ['biuld'],
  },
  {
    title: 'the last instruction sets a user that is a number other than 0, as Kubernetes needs it',
    breaches: ({ stages }) => {
      const last = stages.at(-1)?.instructions.at(-1)
      return last?.keyword === 'USER' && /^[1-9]\d*:[1-9]\d*$/.test(last.text) ? [] : [`${last?.keyword} ${last?.text}`]
    },
    planted: 'FROM x\nUSER 65532:65532\nUSER nonroot',
    finds: ['USER nonroot'],
  },
  {
    title: 'the entry point, the command and the health check need no shell',
    breaches: (file) =>
      ['ENTRYPOINT', 'CMD', 'HEALTHCHECK'].filter(
        (keyword) => execForm(lastOf(file, keyword)?.text ?? '') === undefined,
      ),
    planted: 'FROM x\nENTRYPOINT ["a"]\nCMD serve\nHEALTHCHECK --interval=5s CMD curl localhost',
    finds: ['CMD', 'HEALTHCHECK'],
  },
  {
    title: 'no argument, variable or label is named like a secret',
    breaches: (file) =>
      allOf(file, 'ARG', 'ENV', 'LABEL')
        .flatMap(({ text }) => Object.keys(pairsIn(text)))
        .filter((name) => /secret|token|passw|key|credential/i.test(name)),
    planted: 'ARG NPM_TOKEN\nFROM x\nENV A=1 API_KEY=abc\nARG VERSION=1',
    finds: ['NPM_TOKEN', 'API_KEY'],
  },
]

const dockerfile = readDockerfile('deploy/Dockerfile')

for (const { title, breaches, planted, finds } of rules) {
  describe(`the Dockerfile: ${title}`, () => {
    it('holds', () => assert.deepEqual(breaches(dockerfile), []))
    it('detects a planted violation', () => assert.deepEqual(breaches(parseDockerfile(planted)), finds))
  })
}

describe('the image', () => {
  const flagsIn = (words: readonly string[]): string[] => words.filter((word) => word.startsWith('--'))
  const start = flagsIn(projectFile.scripts.start.split(' '))

  it('starts the server with the Node options of npm start, also when its compile cache is filled', () => {
    assert.deepEqual(flagsIn(execForm(lastOf(dockerfile, 'ENTRYPOINT')?.text ?? '') ?? []), start)
    const firstStart = allOf(dockerfile, 'RUN').find(({ text }) => text.includes(' serve '))
    assert.ok(firstStart?.text.includes(`/nodejs/bin/node ${start.join(' ')} /app/bin/gatehouse.mjs serve`))
  })

  it('has Node of the line that the project is pinned to', () => {
    const line = runtimeFile.dependencies.node.split('.')[0]
    const { BUILD_IMAGE = '', RUNTIME_IMAGE = '' } = argumentsOf(dockerfile.args)
    assert.match(BUILD_IMAGE, new RegExp(`/node:${line}-`))
    assert.match(RUNTIME_IMAGE, new RegExp(`/nodejs${line}-`))
  })

  it('names its title, licence, version and source revision in labels', () => {
    const labels = pairsIn(lastOf(dockerfile, 'LABEL')?.text ?? '')
    assert.equal(labels['org.opencontainers.image.licenses'], projectFile.license)
    for (const name of ['title', 'description', 'version', 'revision', 'base.name'])
      assert.ok(labels[`org.opencontainers.image.${name}`], name)
  })
})

describe('the build context', () => {
  it('begins by excluding everything, and names only files that exist', () => {
    const [first] = readFileSync('.dockerignore', 'utf8')
      .split('\n')
      .filter((line) => !line.startsWith('#'))
    assert.equal(first, '*')
    assert.deepEqual(
      allowed.filter((path) => globSync(path).length === 0),
      [],
    )
  })
})
