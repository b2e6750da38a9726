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
