import { modelFields, upstreamFields, type ModelDraft, type UpstreamDraft } from './drafts.ts'
import type { CatalogueModel } from './queries.ts'

/** Words that YAML reads as something else than a text. */
const reserved = new Set(['true', 'false', 'yes', 'no', 'on', 'off', 'null', 'y', 'n'])

/** JSON's form of a text is also YAML's, for texts that YAML would misread without quotes. */
const textOf = (value: string): string =>
  /^[a-z][a-z0-9._/-]*$/i.test(value) && !reserved.has(value.toLowerCase()) ? value : JSON.stringify(value)

/** The entry as it stands, or could stand, in the configuration file. */
export function yamlOf({ name, targets, price, ...model }: CatalogueModel): string {
  const prices = [
    `input: ${price.input}`,
    `output: ${price.output}`,
    ...(price.cache_read === price.input ? [] : [`cache_read: ${price.cache_read}`]),
    ...(price.cache_write === price.input ? [] : [`cache_write: ${price.cache_write}`]),
  ]
  return [
    'models:',
    `  - name: ${textOf(name)}`,
    '    targets:',
    ...targets.flatMap((target) => [
      `      - upstream: ${textOf(target.upstream)}`,
      ...(target.model === name ? [] : [`        model: ${textOf(target.model)}`]),
    ]),
    `    context_tokens: ${model.context_tokens}`,
    ...(model.caps_output ? [`    max_output_tokens: ${model.max_output_tokens}`] : []),
    `    price: { ${prices.join(', ')} }`,
    ...(model.may_use.free_requests ? ['    free_tier: true'] : []),
  ].join('\n')
}

/** The entry that a form describes. The key is a variable, because a file must not have it. */
export function upstreamYaml(draft: UpstreamDraft): string {
  const { api_key: key, ...fields } = upstreamFields(draft)
  const variable = draft.name.toUpperCase().replace(/[^A-Z0-9]+/g, '_')
  return [
    'upstreams:',
    `  - name: ${textOf(draft.name)}`,
    ...Object.entries(fields).map(([name, value]) => `    ${name}: ${textOf(String(value))}`),
    ...(key === undefined ? [] : [`    api_key: \${${variable === '' ? '' : `${variable}_`}API_KEY}`]),
  ].join('\n')
}

/** The entry that a form describes. */
export function newModelYaml(draft: ModelDraft): string {
  const { targets, price, ...numbers } = modelFields(draft)
  const prices = Object.entries(price ?? {}).map(([name, value]) => `${name}: ${value}`)
  return [
    'models:',
    `  - name: ${textOf(draft.name)}`,
    '    targets:',
    ...targets.flatMap(({ upstream, model }) => [
      `      - upstream: ${textOf(upstream)}`,
      ...(typeof model === 'string' ? [`        model: ${textOf(model)}`] : []),
    ]),
    ...Object.entries(numbers).map(([name, value]) => `    ${name}: ${String(value)}`),
    ...(prices.length > 0 ? [`    price: { ${prices.join(', ')} }`] : []),
  ].join('\n')
}
