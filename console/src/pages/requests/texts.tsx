import { useState } from 'react'
import { useMay } from '../../session/session.tsx'
import { Button } from '../../kit/button.tsx'
import { CommandPreview } from '../../kit/command-preview.tsx'
import { MarkedText } from '../../kit/marked-text.tsx'
import { ErrorNotice } from '../../kit/notice.tsx'
import { SmallHeading } from '../../kit/small-heading.tsx'
import { LoadingRows } from '../../kit/state.tsx'
import { words } from '../../words/en.ts'
import { marksWithin } from './marks.ts'
import { useRequestContent, type RequestContent, type RequestDetail } from './queries.ts'
import styles from './texts.module.css'

const text = words.request.texts

/**
 * The texts of a request with what the checks acted on. They are loaded when somebody asks for them, because each read is an
 * event of the audit log.
 */
export function Texts({ request }: { readonly request: RequestDetail }) {
  const mayRead = useMay('content:read')
  const [isShown, setShown] = useState(false)
  const content = useRequestContent(request.id, isShown)
  if (!request.is_content_kept) return <p className={styles.note}>{text.notKept}</p>
  if (!mayRead) return <p className={styles.note}>{text.noPermission}</p>
  return (
    <>
      {!isShown && (
        <p className={styles.note}>
          <Button isSmall onClick={() => setShown(true)}>
            {text.show}
          </Button>{' '}
          {text.recorded}
        </p>
      )}
      {isShown && content.isPending && <LoadingRows widths={[220, 160]} rows={2} />}
      {content.isError && <ErrorNotice error={content.error} />}
      {content.data && <Shown content={content.data} />}
      <CommandPreview
        call={{
          method: 'GET',
          path: `/v1/organization/requests/${request.id}?include=content`,
          command: `gatehouse requests show ${request.id} --texts`,
        }}
      />
    </>
  )
}

function Shown({ content: { level, prompt, response } }: { readonly content: RequestContent }) {
  return (
    <>
      {level === 'redacted' && <p className={styles.note}>{text.redacted}</p>}
      <SmallHeading>{text.prompt}</SmallHeading>
      <MarkedText text={prompt.text} marks={prompt.evidence} />
      <SmallHeading>{text.response}</SmallHeading>
      {response.text === '' ? <p className={styles.note}>{text.noResponse}</p> : <Response response={response} />}
    </>
  )
}

/** What was sent, then what a check withheld. */
function Response({ response: { text: whole, evidence, withheld_from: from } }: Pick<RequestContent, 'response'>) {
  if (from === null) return <MarkedText text={whole} marks={evidence} />
  return (
    <>
      {from > 0 && <MarkedText text={whole.slice(0, from)} marks={marksWithin(evidence, 0, from)} />}
      <p className={styles.withheld}>{text.withheld}</p>
      <MarkedText text={whole.slice(from)} marks={marksWithin(evidence, from, whole.length)} />
    </>
  )
}
