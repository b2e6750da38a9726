import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CatalogueModel } from './queries.ts'
import { emptyModel, emptyUpstream } from './drafts.ts'
import { newModelYaml, upstreamYaml, yamlOf } from './yaml.ts'

const model = (changed: object): CatalogueModel =>
  ({
    name: 'gpt-5',
    targets: [{ upstream: 'openai', model: 'gpt-5' }],
    context_tokens: 128_000,
    max_output_tokens: 4_096,
    caps_output: false,
    price: { input: 1.25, output: 10, cache_read: 1.25, cache_write: 1.25 },
    may_use: { free_requests: false },
    ...changed,
  }) as unknown as CatalogueModel

describe('the entry of a model', () => {
  it('leaves out what is the default', () =>
    assert.equal(
      yamlOf(model({})),
      [
        'models:',
        '  - name: gpt-5',
        '    targets:',
        '      - upstream: openai',
        '    context_tokens: 128000',
        '    price: { input: 1.25, output: 10 }',
      ].join('\n'),
    ))
  it('has everything that differs from it', () =>
    assert.equal(
      yamlOf(
        model({
          targets: [
            { upstream: 'openai', model: 'gpt-5-2026' },
            { upstream: 'azure', model: 'gpt-5' },
          ],
          caps_output: true,
          price: { input: 1, output: 2, cache_read: 0.1, cache_write: 3 },
          may_use: { free_requests: true },
        }),
      ),
      [
        'models:',
        '  - name: gpt-5',
        '    targets:',
        '      - upstream: openai',
        '        model: gpt-5-2026',
        '      - upstream: azure',
        '    context_tokens: 128000',
        '    max_output_tokens: 4096',
        '    price: { input: 1, output: 2, cache_read: 0.1, cache_write: 3 }',
        '    free_tier: true',
      ].join('\n'),
    ))
  for (const name of ['no', 'NULL', '5', 'a: b', '#a', '- a', 'ü', "it's"])
    it(`quotes the name ${name}, which YAML would read as something else`, () =>
      assert.ok(yamlOf(model({ name })).includes(`- name: ${JSON.stringify(name)}\n`)))
})

describe('the YAML of a form', () => {
  it('has a variable in place of the key', () =>
    assert.equal(
      upstreamYaml({ ...emptyUpstream, name: 'my-server', baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'sk-secret' }),
      [
        'upstreams:',
        '  - name: my-server',
        '    kind: openai-chat',
        '    base_url: "http://127.0.0.1:9/v1"',
        '    api_key: ${MY_SERVER_API_KEY}',
      ].join('\n'),
    ))
  it('has the targets in order, and the numbers that were entered', () =>
    assert.equal(
      newModelYaml({
        ...emptyModel('a'),
        name: 'm',
        targets: [
          { upstream: 'a', model: 'x' },
          { upstream: 'b', model: '' },
        ],
        input: '1',
      }),
      [
        'models:',
        '  - name: m',
        '    targets:',
        '      - upstream: a',
        '        model: x',
        '      - upstream: b',
        '    price: { input: 1 }',
      ].join('\n'),
    ))
})
