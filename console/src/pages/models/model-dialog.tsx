import type { ReactNode } from 'react'
import { Button } from '../../kit/button.tsx'
import { CodeBlock } from '../../kit/code-block.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { count } from '../../kit/format.ts'
import { Notice } from '../../kit/notice.tsx'
import { words } from '../../words/en.ts'
import { DefinedIn } from './defined-in.tsx'
import { mayUseOf, priceOf } from './facts.ts'
import type { CatalogueModel } from './queries.ts'
import { yamlOf } from './yaml.ts'
import styles from './page.module.css'

const text = words.models
const mostNames = 200

/** One entry of the catalogue: all facts, and its YAML to copy. */
export function ModelDialog({ model, onClose }: { readonly model: CatalogueModel; readonly onClose: () => void }) {
  return (
    <Dialog
      isWide
      title={text.details(model.name)}
      onClose={onClose}
      actions={<Button onClick={onClose}>{words.common.close}</Button>}
    >
      {model.kind === 'prefix' && <Notice tone="none">{text.prefix}</Notice>}
      <dl className={styles.facts}>
        {factsOf(model).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <h3>{text.targets}</h3>
      <ol className={styles.targets}>
        {model.targets.map(({ upstream, upstream_kind: kind, model: name }) => (
          <li key={`${upstream}/${name}`}>
            <strong>{upstream}</strong> <code>{name}</code> <span className={styles.quiet}>{kind}</span>
          </li>
        ))}
      </ol>
      {model.kind === 'prefix' && (
        <>
          <h3>{text.names}</h3>
          {model.names.length === 0 && <p className={styles.quiet}>{text.noNames}</p>}
          <p className={styles.names}>{model.names.slice(0, mostNames).join(', ')}</p>
        </>
      )}
      <h3>{text.asYaml}</h3>
      <CodeBlock code={yamlOf(model)} />
      <CommandPreview call={{ method: 'GET', path: '/v1/organization/models', command: 'gatehouse models list' }} />
    </Dialog>
  )
}

function factsOf(model: CatalogueModel): readonly (readonly [string, ReactNode])[] {
  const { facts } = text
  const { price } = model
  const limit = count(model.max_output_tokens)
  return [
    [facts.context, text.tokens(count(model.context_tokens))],
    [facts.output, model.caps_output ? text.tokens(limit) : text.defaultOutput(limit)],
    [facts.input, priceOf(price.input)],
    [facts.outputPrice, priceOf(price.output)],
    [facts.cacheRead, priceOf(price.cache_read)],
    [facts.cacheWrite, priceOf(price.cache_write)],
    [facts.mayUse, mayUseOf(model)],
    [facts.definedIn, <DefinedIn key="defined" at={model.defined_in} />],
  ]
}
