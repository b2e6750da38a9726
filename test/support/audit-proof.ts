import type { SignedCheckpoint } from '../../src/domain/audit/chain/checkpoint.ts'
import type { ChainedDocument } from '../../src/domain/audit/event/document.ts'
import type { ProofHeader } from '../../src/http/admin/audit-logs/proof/file.ts'

/** What the script of a proof reads from its page. */
export type ProofPage = { readonly header: ProofHeader; readonly lines: readonly string[] }

type Finding = { readonly sequence: number; readonly reason: string }

type Report = {
  readonly events: readonly ChainedDocument[]
  readonly finding?: Finding
  readonly signatureFinding?: Finding
  readonly signed?: { readonly to: number; readonly time: number; readonly keyIds: readonly string[] }
  readonly late: readonly { readonly to: number }[]
}

type Verify = (proof: {
  readonly lines: readonly string[]
  readonly publicKeys: readonly string[]
  readonly checkpoints: readonly SignedCheckpoint[]
  readonly handovers: readonly SignedCheckpoint[]
}) => Promise<Report>

export function pageParts(html: string): ProofPage {
  const [, header = '', events = ''] =
    /<script type="application\/json" id="header">\n(.*)\n<\/script>\n<script type="application\/x-ndjson" id="events">\n([^<]*)<\/script>/.exec(
      html,
    ) ?? []
  return { header: JSON.parse(header), lines: events.split('\n').filter((line) => line !== '') }
}

/** Runs the script of the page here. */
export async function verifyInPage({ header, lines }: ProofPage, publicKeys?: readonly string[]): Promise<Report> {
  const script = new URL('../../src/http/admin/audit-logs/proof/page/verify.js', import.meta.url)
  const { verifyProof } = (await import(script.href)) as { readonly verifyProof: Verify }
  return verifyProof({
    ...header,
    lines,
    publicKeys: publicKeys ?? header.keys.map((key) => key.public_key),
  })
}
