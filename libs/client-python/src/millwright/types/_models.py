"""Models of what the service answers and takes.

Generated from the API document by scripts/generate.py; do not edit.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Optional, Union

from millwright.types._base import ModelBase, Omittable
from millwright.types._texts import RunMode, RunSourceType, RunState
from pydantic import AwareDatetime, Field


class AgentHarness(ModelBase):
    """The program that drives the agent."""

    type: Omittable[str] = None
    """Kind of harness; `command` is the operator's command."""

    model_id: Omittable[str] = None
    """Model of the harness."""

    reasoning_level: Omittable[str] = None
    """Reasoning level."""


class ApiKeyPatch(ModelBase):
    """Changes the label or the end of an API key that is in use; nothing else of a key can be changed, and a member that names something else is refused."""

    name: Omittable[str] = None
    """What it is for."""

    expires_at: Optional[AwareDatetime] = None
    """From when on it is refused, in the future; null: never."""


class ApiKeyRotate(ModelBase):
    """Replaces an API key by another one."""

    overlap_seconds: Omittable[int] = None
    """How long the key of before lets its holder in beside the new one, at most until its own end; 0: not at all."""


class Approval(ModelBase):
    """An approval that is stored. It counts for exactly these deletions of this factory at this revision, or exactly this rewriting of its history."""

    factory_uid: str
    """The factory."""

    plan: str
    """The digest that was approved."""

    approved: bool
    """True."""


class PlanApproval(ModelBase):
    """Approves held deletions, a rewritten history, or what runs could do more, by their digest."""

    plan: str
    """Digest of what is held now, as a sync shows it."""


class Attachment(ModelBase):
    """A file of a request; the execution that takes the request finds it in the folder `attachments` of its workspace."""

    file_name: str
    """Name in the workspace: 1 to 128 letters, digits, blanks and . _ - ( ) [ ] + , = @ & # % ~, 240 bytes at most, no leading dot or blank, unique in the request, not prompt.md or event-payload.json. A later file of the same name gets a number: notes.txt, notes-2.txt."""

    mime_type: str
    """Media type, such as text/plain."""

    data: str
    """Content in base64 with padding."""


class AutomationReference(ModelBase):
    """An automation, as other resources refer to it."""

    uid: str
    """Identifier, `auto_` and 26 characters."""

    slug: str
    """Permanent name inside the factory."""

    name: str
    """Label for people."""

    enabled: bool
    """Whether its triggers start anything."""


class AutomationTriggerRequest(ModelBase):
    """A trigger to be set."""

    provider: Union[Literal["webhook", "schedule"], str]
    """`webhook`: a delivery starts a run. `schedule`: the clock does."""

    webhook_uids: Omittable[list[str]] = None
    """With `webhook`: UIDs of webhooks of this factory."""

    payload: Omittable[dict[str, Any]] = None
    """With `webhook`: payload filter that mirrors the delivery’s body; absent: every delivery."""

    name: Omittable[str] = None
    """With `schedule`: label of the schedule."""

    cron: Omittable[str] = None
    """With `schedule`: five cron fields in UTC, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`."""


class AutomationTrigger(ModelBase):
    """What starts an automation."""

    provider: Union[Literal["webhook", "schedule", "inactive"], str]
    """`webhook`: a delivery. `schedule`: the clock. `inactive`: a provider that is not served here; it never fires."""

    webhook_uids: Omittable[list[str]] = None
    """With `webhook`: webhooks whose deliveries start it. Deleted ones may be among them and never fire."""

    payload: Omittable[dict[str, Any]] = None
    """With `webhook`: payload filter that mirrors the delivery’s body; absent: every delivery."""

    name: Omittable[str] = None
    """With `schedule`: label of the schedule."""

    cron: Omittable[str] = None
    """With `schedule`: five cron fields in UTC, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`."""

    declared_provider: Omittable[str] = None
    """With `inactive`: the provider that the file names."""


class Condition(ModelBase):
    """One thing that can be waited for. Every status has all of them, in this order: Ready (what the files say is what serves), Reconciling (a pass is asked for or under way), Stalled (nothing goes on until somebody acts; a closed sync window opens by itself), FetchFailed (the repository or folder could not be read), SourceVerificationFailed (the tip is not signed by a key of the sync policy), DefinitionsInvalid (files have errors), PruneHeld (deletions wait for an approval), SecretsDegraded (an enabled webhook has no secret to authenticate with, or secrets cannot be looked after and the last values are kept), HistoryRewritten (the tip does not descend from the one before: applied, or waiting for an approval)."""

    type: Union[Literal["Ready", "Reconciling", "Stalled", "FetchFailed", "SourceVerificationFailed", "DefinitionsInvalid", "PruneHeld", "SecretsDegraded", "HistoryRewritten"], str]
    """Which condition."""

    status: Union[Literal["True", "False", "Unknown"], str]
    """`Unknown` where the last pass could not look."""

    reason: str
    """kebab-case word for programs."""

    message: str
    """Sentence for people."""

    since: Optional[AwareDatetime]
    """Since when the condition has had its status. Null where that is not recorded: Reconciling that is True, and whatever changed since the last pass."""

    observed_generation: int
    """Generation of requests that the condition speaks of."""


class ConversationFollowupResponse(ModelBase):
    """A follow-up that was stored, and the run that has it."""

    run_id: str
    """The run."""

    followup_id: str
    """UUIDv7 of the follow-up."""

    outcome: Union[Literal["queued_prompt", "queue_pending", "live_session", "handoff_execution"], str]
    """Where it goes; as of a follow-up to a run."""

    ignored: Omittable[list[str]] = None
    """JSON pointers of the members of the request that are not served here and were ignored, a hundred at most; not there where none were. The run's log names them, too."""


class FactoryDispatchResponse(ModelBase):
    """A run that was dispatched to a factory; from here on it is a run like any other."""

    factory_uid: str
    """The factory."""

    run_id: str
    """UUIDv7 of the run."""

    state: RunState
    ticket_ref: str
    """The ticket's reference, as it was given; empty where none was."""

    run_url: str
    """Page of the run."""

    foreman_agent: str
    """Always empty: factories here have no agent that distributes work."""

    ignored: Omittable[list[str]] = None
    """JSON pointers of the members of the request that are not served here and were ignored, a hundred at most; not there where none were. The run's log names them, too."""


class EgressRanges(ModelBase):
    """By which networks runs and syncs reach others, as the operator says (MILLWRIGHT_EGRESS_RANGES)."""

    cidrs: list[str]
    """Networks, each once; empty where the operator says nothing."""


class ExchangedToken(ModelBase):
    """A key that lasts ten minutes (RFC 8693, section 2.2)."""

    access_token: str
    """The key: sent like any other, and shown this once."""

    issued_token_type: Union[Literal["urn:ietf:params:oauth:token-type:access_token"], str]
    """What it is."""

    token_type: Union[Literal["Bearer"], str]
    """How it is sent: `Authorization: Bearer …`."""

    expires_in: int
    """Seconds until it is refused."""

    scope: Union[Literal["viewer", "operator", "manager"], str]
    """Its role."""

    api_key_id: str
    """Its identifier, as the audit trail names it."""

    federated_credential_id: str
    """The federated credential that it was made by."""


class ExplainedDefinition(ModelBase):
    """A webhook in an explanation: what decided, and whether it is still the same."""

    uid: str
    """Its UID."""

    slug: str
    """Permanent name inside the factory."""

    file: Optional[str]
    """File that defines it; null where it is managed over the API."""

    standing: Union[Literal["unchanged", "changed", "deleted"], str]
    """What became of it since."""

    revision: str
    """Revision that wrote it last, or deleted it."""

    changed_at: Optional[AwareDatetime]
    """When it was changed last, or deleted; null where it is unchanged."""


class ExplainedDelivery(ModelBase):
    """A delivery in an explanation."""

    entry_id: str
    """Its entry in the log."""

    delivery_id: str
    """Its identity."""

    outcome: Union[Literal["Accepted", "Duplicate", "Rejected (auth)", "Rejected (invalid JSON)", "Rejected (too large)", "Throttled"], str]
    """What became of it."""

    received_at: AwareDatetime
    """When it came."""

    count: int
    """Deliveries that the entry stands for."""

    refused_because: Omittable[str] = None
    """Why it was refused; shown to managers only."""

    duplicate_of: Optional[str]
    """Of a duplicate: the entry of the delivery that was accepted before it, where the log still has it."""

    resent_from: Omittable[str] = None
    """The entry whose stored bytes were delivered again, where somebody asked for that."""


class ExplainedTrigger(ModelBase):
    """A trigger in an explanation, as it is written now."""

    position: int
    """Which of the automation's triggers, from 1."""

    as_decided: bool
    """False where the automation has changed since, so that another text may have decided."""

    provider: Union[Literal["webhook", "schedule"], str]
    """What it waits for."""

    filter: Omittable[dict[str, Any]] = None
    """Payload filter of a webhook trigger; absent: every delivery."""

    cron: Omittable[str] = None
    """Cron expression of a schedule trigger."""


class FactoryEvent(ModelBase):
    """Something that happened to a factory. Told once, however often a pass finds it again; never holds a secret or a payload."""

    id: str
    """UUIDv7 of the event."""

    at: AwareDatetime
    """When it happened."""

    type: Union[Literal["Normal", "Warning"], str]
    """`Warning` where people should look."""

    reason: str
    """kebab-case word for programs."""

    message: str
    """Sentence for people."""

    revision: Optional[str]
    """Revision that it is about; null where it is about none."""

    sync: Optional[str]
    """The pass that it happened in; null where it was none, or one that was not recorded."""


class FactorySource(ModelBase):
    """Where a factory's definitions come from: a git repository, a directory of the server (where the operator allows it), or the dashboard, where they are managed over the API."""

    kind: Union[Literal["git", "directory", "dashboard"], str]
    """`git`, `directory` or `dashboard`; the members below belong to git unless they say otherwise."""

    url: Omittable[str] = None
    """https or ssh address of the repository; required for git. Holds no user name and no password."""

    branch: Omittable[str] = None
    """Branch; by default the one that the remote's HEAD names."""

    path: Omittable[str] = None
    """Folder of the repository that is the factory's root (git), or the absolute path of the directory (directory; required there)."""

    interval: Omittable[int] = None
    """Seconds between looks; by default what the server is configured with."""

    credential_secret: Omittable[str] = None
    """Name of the managed secret, granted for the use `git`, that the repository is read with."""

    push_secret: Omittable[str] = None
    """Name of the managed secret, granted for the use `forge`, that push notices of the git host are proven with."""

    forge: Omittable[Union[Literal["github", "gitlab", "gitea"], str]] = None
    """What the repository is hosted by: its open pull requests are judged and answered with a status and a comment. Needs `forge_secret`. `gitea` is Forgejo, too."""

    forge_secret: Omittable[str] = None
    """Name of the managed secret, granted for the use `forge`, that holds the token for the interface of the forge."""

    forge_app: Omittable[str] = None
    """ID or client ID of a GitHub App that is installed for the repository. `forge_secret` is its private key (PEM) then, and tokens of an hour are asked for with it."""

    forge_url: Omittable[str] = None
    """https address of the interface of the forge; by default derived from `url`."""

    forge_repository: Omittable[str] = None
    """The repository as the forge names it, `owner/name`; by default derived from `url`."""


class FederatedCredentialCreate(ModelBase):
    """Lets tokens of an issuer be exchanged for keys that last ten minutes."""

    name: str
    """What it is for; also the name of the service account that its keys belong to."""

    issuer: str
    """The issuer as its tokens name it (`iss`), byte for byte: an https URL without user, query or fragment. Its keys are found below it, at `/.well-known/openid-configuration`."""

    audience: str
    """Whom a token has to be made for (`aud`), and nobody else."""

    claims: dict[str, list[str]]
    """What a token has to say: each claim by its name, with the values that are allowed for it, compared byte for byte. Of an issuer that serves everybody one of them has to name whose token it is."""

    role: Union[Literal["viewer", "operator", "manager"], str]
    """What its keys may do. Not `admin`: such a key could make one that lasts."""

    factories: Omittable[list[str]] = None
    """UIDs of the only factories that its keys may see; absent: all of them."""


class FederatedCredentialPatch(ModelBase):
    """Changes a federated credential. Its issuer stays: make another one."""

    name: Omittable[str] = None
    """What it is for."""

    audience: Omittable[str] = None
    """Whom a token has to be made for (`aud`), and nobody else."""

    claims: Omittable[dict[str, list[str]]] = None
    """What a token has to say: each claim by its name, with the values that are allowed for it, compared byte for byte. Of an issuer that serves everybody one of them has to name whose token it is."""

    role: Omittable[Union[Literal["viewer", "operator", "manager"], str]] = None
    """What its keys may do. Not `admin`: such a key could make one that lasts."""

    factories: Optional[list[str]] = None
    """UIDs of the only factories that its keys may see; null: all of them."""


class FilterReplayRequest(ModelBase):
    """Asks which of the newest deliveries a trigger would have taken."""

    filter: Any
    """The payload filter; `{}` takes every payload."""

    webhook_uids: Omittable[list[str]] = None
    """Webhooks that the trigger selects. Without them the deliveries of all webhooks of the factory are asked."""

    limit: Omittable[int] = None
    """Deliveries to ask at most."""


class FilterSuggestRequest(ModelBase):
    """Asks for a filter that takes some deliveries and leaves others."""

    entry_ids: list[str]
    """Log entries of accepted deliveries that the filter shall take."""

    not_entry_ids: Omittable[list[str]] = None
    """Log entries of accepted deliveries that it shall leave. Without this: the other ones among the newest 50 of the same webhooks."""


class FilterSuggestion(ModelBase):
    """A filter made of deliveries. It holds values of their payloads, as a filter does."""

    filter: dict[str, Any]
    """Takes all of the given deliveries; `{}` where they have nothing in common that the others have not."""

    takes: int
    """Given deliveries that it takes: all whose payloads could be read."""

    leaves: int
    """Others that it leaves."""

    takes_besides: int
    """Others that it takes although it should not: nothing tells them apart."""

    unreadable: int
    """Given deliveries and others whose stored payload cannot be read any more."""


class FilterTestRequest(ModelBase):
    """Asks whether a payload would satisfy a payload filter. Exactly one of entry_id and payload is given."""

    filter: Any
    """The payload filter: an object that mirrors the body; `{}` takes every payload."""

    entry_id: Omittable[str] = None
    """Log entry of an accepted delivery of this factory, whose stored payload is tested."""

    payload: Optional[Any] = None
    """Any JSON value, null included, nested at most 60 deep."""

    webhook_uids: Omittable[list[str]] = None
    """Webhooks that the trigger selects. Without them only the payload decides."""


class FollowupAttachment(ModelBase):
    """A file of a follow-up: sent along (file_name, mime_type and data), or a file that a run has made, by its ID (attachment_id)."""

    attachment_id: Omittable[str] = None
    """UID of an artifact that is a file, of a run that the key may see, as the handoff attachments of a run name it."""

    file_name: Omittable[str] = None
    """Name in the workspace, as of any attachment; by default that of the artifact."""

    mime_type: Omittable[str] = None
    """Media type, such as text/plain."""

    data: Omittable[str] = None
    """Content in base64 with padding."""


class ForgeStatus(ModelBase):
    """The forge that a factory's pull requests are answered at, and how it answered last."""

    kind: Union[Literal["github", "gitlab", "gitea"], str]
    """Which interface it has."""

    repository: str
    """The repository there."""

    polled_at: Optional[AwareDatetime]
    """When it last listed its open pull requests; null: not yet."""

    fault: Optional[Union[Literal["away", "slow-down", "denied", "missing", "refused"], str]]
    """Why it took nothing last; null: it did. `away`: not reached, or no answer of a forge. `slow-down`: too much was asked. `denied`: the token is missing, not taken, or may not do this. `missing`: there is no such repository for it."""

    message: Optional[str]
    """The same in a sentence."""

    retry_at: Optional[AwareDatetime]
    """When it is asked again; null: with the next look."""

    waiting: int
    """Statuses and comments that it does not have yet."""


class HarnessUsage(ModelBase):
    """What a harness itself has measured of a run: nothing here, where tokens are counted whichever the harness (request_usage of the run)."""

    available: bool
    """Always false."""

    conversation_id: str
    """Conversation of the run."""

    run_id: str
    """The run."""


class ImageAttachment(ModelBase):
    """An image of a request, as older clients send it; it becomes the attachment image-1.png, image-2.jpg and so on."""

    mime_type: Union[Literal["image/jpeg", "image/png", "image/gif", "image/webp"], str]
    """Media type of the image."""

    data: str
    """Content in base64 with padding."""


class InventoryItem(ModelBase):
    """One object that is applied in a factory."""

    kind: Union[Literal["environment", "skill", "webhook", "automation"], str]
    """Kind of object."""

    slug: str
    """Name inside the factory."""

    uid: str
    """Stable identifier."""

    file: Optional[str]
    """File that decides it, relative to the factory's root; null on a dashboard factory."""

    blob: Optional[str]
    """Object ID that git gives the file as it is applied (SKILL.md of a skill); null on a dashboard factory."""

    revision: str
    """Revision that it was last changed by."""

    state: Union[Literal["applied", "disabled", "held"], str]
    """`applied`; `disabled` where its own definition says so; `held` where its file has an error or its deletion waits: it serves as it was applied before."""


class MCPServerConfig(ModelBase):
    """One MCP server: a command that is started beside the agent, or a URL; exactly one of the two."""

    warp_id: Omittable[str] = None
    """A server that the hosted service keeps, in place of command and url; there are none here: it is ignored."""

    command: Omittable[str] = None
    """Program to start beside the agent."""

    args: Omittable[list[str]] = None
    """Its arguments."""

    env: Omittable[dict[str, str]] = None
    """Its environment variables."""

    url: Omittable[str] = None
    """Address of a server that is reached over HTTP."""

    headers: Omittable[dict[str, str]] = None
    """Headers of each request."""


class MergedPullRequest(ModelBase):
    """A pull request that a revision came with. Titles and authors are foreign texts."""

    revision: str
    """The revision that it came with, as it is named where this is listed."""

    number: int
    """Its number at the forge."""

    title: str
    """Its title, one line, cut at 200 characters."""

    author: str
    """Who opened it, as the forge says it."""

    url: Optional[str]
    """Its page at the forge."""

    merge_commit: Optional[str]
    """Newest commit that the branch got by it: the merge, the squash, or the last of the rebased ones."""


class Model(ModelBase):
    """A language model that a configuration can name."""

    id: str
    """What `model_id` is set to."""

    source: Union[Literal["server", "definition"], str]
    """server: the operator lists it. definition: an applied definition names it."""

    display_name: str
    """Name for people: the ID."""

    provider: Union[Literal["OPENAI", "ANTHROPIC", "GOOGLE", "UNKNOWN"], str]
    """Who makes it, where its ID begins as theirs do."""

    vision_supported: bool
    """Whether it is known to see images."""


class OpenApiDocument(ModelBase):
    """An OpenAPI 3.1 document."""

    openapi: str
    """Version of the specification that the document follows."""

    info: dict[str, Any]
    """Title, version and description of the interface."""

    servers: list[dict[str, Any]]
    """Where the interface is reached."""

    tags: list[dict[str, Any]]
    """Groups of operations, in the order of the documentation."""

    paths: dict[str, Any]
    """Operations by path and method."""

    components: dict[str, Any]
    """Schemas, answers, headers and security schemes that the operations refer to."""


class PageInfo(ModelBase):
    """Whether a list goes on, and where."""

    has_next_page: bool
    """Whether there are further entries."""

    next_cursor: Omittable[str] = None
    """Opaque position to ask for as `cursor`, with otherwise the same query; only while there are further entries."""


class PermissionAnswer(ModelBase):
    """An answer to an agent that asks permission. Unknown members are ignored."""

    option_id: str
    """One of the options of the request."""


class PermissionOption(ModelBase):
    """One answer that an agent offers."""

    option_id: str
    """Names the answer."""

    name: str
    """The answer for people."""

    kind: Union[Literal["allow_once", "allow_always", "reject_once", "reject_always"], str]
    """What it does: allows or refuses, this once or from now on."""


class Principal(ModelBase):
    """Who acts: a person or a program."""

    uid: str
    """Stable identifier; `user_…` or `svc_…`."""

    type: Union[Literal["user", "service_account"], str]
    """Whether it is a person or a program."""

    display_name: str
    """Name for people."""

    email: Optional[str]
    """Where its owner can be reached; null when that was not said."""


class PullRequest(ModelBase):
    """An open pull request for the branch that a factory follows. Titles and authors are foreign texts."""

    number: int
    """Its number at the forge."""

    title: str
    """Its title, one line, cut at 200 characters."""

    author: str
    """Who opened it, as the forge says it."""

    url: Optional[str]
    """Its page at the forge."""

    head: str
    """ID of its newest commit."""

    base: str
    """Branch that it is to be merged into."""

    fork: bool
    """Whether its commits come from another repository: it is judged without what is known of secrets, traffic and deliveries."""

    verdict: Union[Literal["pending", "success", "failure", "error"], str]
    """Of `head`. `success`: it applies, or waits for an approval or a sync window only. `failure`: it does not apply. `error`: it could not be judged."""

    description: str
    """The verdict in a sentence: where it fails, the first error with its file and line."""

    judged_against: Optional[str]
    """Revision that served when it was judged; null: none did, or it was not judged."""

    plan_url: str
    """Page of its plan."""

    posted: bool
    """Whether the forge has this verdict and the comment that goes with it."""

    updated_at: AwareDatetime
    """When it was judged or moved last."""


class PushNoticeAnswer(ModelBase):
    """What became of a push notice."""

    factory_uid: str
    """The factory."""

    requested: bool
    """Whether a pass was asked for."""

    reason: Union[Literal["push", "suspended", "other-branch", "not-a-push"], str]
    """`push`: the branch that the factory follows may have moved. `suspended`: the same, and as the factory is suspended the pass looks after secrets only. `other-branch`: the notice names another branch, or a tag. `not-a-push`: it tells of something else, such as a test of the connection."""

    generation_requested: int
    """The generation that was asked for, which generation_handled of the status reaches when it is done; where none was, the latest one."""


class PushNotice(ModelBase):
    """What a git host says of a push; any body will do, also none, also a form. What it says is a hint and is kept nowhere: the pass that follows asks git itself."""

    ref: Omittable[str] = None
    """Full name of the ref that moved, such as `refs/heads/main`. Another branch than the one that the factory follows asks for no pass."""


class RedirectProbe(ModelBase):
    """Where a page moves to: nowhere, here."""


class RequestUsage(ModelBase):
    """What a run has used up, as far as its harness tells."""

    inference_cost: Omittable[float] = None
    """Cost of inference, as the agent tells it; a number without a currency where it told several."""

    compute_cost: Omittable[float] = None
    """Cost of compute."""

    currency: Omittable[str] = None
    """Currency of inference_cost, as the agent names it: ISO 4217, or credits and the like."""

    total_tokens: Omittable[int] = None
    """Tokens of all models, over all executions. A lower bound where an agent tells only how full its context is."""


class RotatedWebhook(ModelBase):
    """A webhook whose secret was replaced."""

    uid: str
    """Identifier of the webhook."""

    slug: str
    """Its slug."""

    name: str
    """Its label."""

    ingress_url: str
    """Address that senders post to, with `{token}` where a secret goes."""

    url: Omittable[str] = None
    """The full URL of a `url_token` webhook, its new secret included; shown in this answer only."""


class RunAgentResponse(ModelBase):
    """A run that was created."""

    run_id: str
    """UUIDv7 of the run."""

    task_id: str
    """The same as run_id."""

    state: RunState
    at_capacity: Omittable[bool] = None
    """Whether it has to wait: every place of this server is taken, or other runs wait before it."""

    ignored: Omittable[list[str]] = None
    """JSON pointers of the members of the request that are not served here and were ignored, a hundred at most; not there where none were. The run's log names them, too."""


class RunCreatorInfo(ModelBase):
    """Who created a run, or who works on it."""

    type: Union[Literal["user", "service_account"], str]
    """A person or a program."""

    uid: str
    """Stable identifier of the principal."""

    display_name: str
    """Name for people."""

    email: Optional[str]
    """Where the principal can be reached; null when that was not said."""


class RunFollowupRequest(ModelBase):
    """Steers or continues a run. Members that are not served are ignored, and named in the answer."""

    message: Omittable[str] = None
    """What to tell the agent; may be left out, or empty, where there are attachments."""

    mode: Omittable[RunMode] = None
    """How the agent is asked to work on this message; normal by default. It counts for the turn that takes the message."""

    attachments: Omittable[list[FollowupAttachment]] = None
    """Files for the agent, 25 at most: each sent along, or one that is here, by its attachment_id."""


class RunFollowupResponse(ModelBase):
    """A follow-up that was stored."""

    followup_id: str
    """UUIDv7 of the follow-up."""

    outcome: Union[Literal["queued_prompt", "queue_pending", "live_session", "handoff_execution"], str]
    """Where it goes: joined to the prompt that waits (queued_prompt), to the agent when it has ended its turn, or to the next execution (queue_pending), to the agent at once, or as the answer to what it asks permission for (live_session), or into a new execution of the ended run (handoff_execution)."""

    ignored: Omittable[list[str]] = None
    """JSON pointers of the members of the request that are not served here and were ignored, a hundred at most; not there where none were. The run's log names them, too."""


class RunReference(ModelBase):
    """A run that was found by what it is about."""

    run_id: str
    """UUIDv7 of the run."""


class RunSchedule(ModelBase):
    """The schedule that started a run."""

    schedule_id: str
    """Identifier of the schedule."""

    schedule_name: str
    """Its name when the run was created; empty where it is not known."""

    cron_schedule: str
    """Its cron expression when the run was created; empty where it is not known."""


class RunSkill(ModelBase):
    """The skill that a run uses as its base prompt."""

    name: str
    """Name of the skill."""

    full_path: Omittable[str] = None
    """Path of its SKILL.md in its repository, where the request or the factory says it."""

    commit: Omittable[str] = None
    """Commit of its repository that it was read at when the run last started; absent for a skill of the factory, which is applied with the run's definition_revision."""


class RunStatusMessage(ModelBase):
    """Why a run is in its state."""

    message: str
    """One sentence for people."""

    error_code: Omittable[str] = None
    """Code of an error, as in the problems of this interface; only of runs that ended badly."""

    retryable: Omittable[bool] = None
    """Whether the same run may succeed when it is started again; only of runs that have ended."""


class ScheduleDeleted(ModelBase):
    """A schedule was deleted."""

    success: bool
    """true: it starts nothing any more."""


class SecretUser(ModelBase):
    """What would break without a secret."""

    kind: Union[Literal["webhook", "automation", "environment", "factory", "schedule", "agent_identity"], str]
    """`factory`: its source, or the defaults of its runs; `schedule`: one of its own; `agent_identity`: one whose runs would have it."""

    factory_uid: str
    """The factory it is in, or is."""

    slug: str
    """Its permanent name; of a schedule or an agent identity, the name that it has now."""

    webhook_uid: Omittable[str] = None
    """UID of a webhook; absent for anything else."""

    uid: Omittable[str] = None
    """Identifier of a schedule or an agent identity; absent for anything else."""


class SessionCreate(ModelBase):
    """Signs a browser in with an API key."""

    api_key: str
    """The key's text, `mw_…`."""


class SignatureScheme(ModelBase):
    """A provider’s way to sign requests, as a webhook may name it."""

    id: str
    """What `signature_scheme` of a webhook names."""

    signature_headers: list[str]
    """Headers that carry the signature, in lower case, in the order they are tried."""

    delivery_headers: list[str]
    """Headers in which the provider sends its delivery ID, in lower case; empty for providers that send none."""

    timestamp_tolerance_seconds: Optional[int]
    """How far the signed time may be from the server’s clock, in seconds; null for schemes that sign no time."""

    secret_origin: Union[Literal["provider", "either"], str]
    """Where the signing secret comes from. `provider`: from the provider, to be supplied. `either`: generated here, or supplied."""

    secret_requirement: str
    """What a signing secret must look like."""

    documentation: str
    """Where the provider describes the scheme."""


class TimelineEvent(ModelBase):
    """One thing that happened to a run."""

    event_uuid: str
    """Identifies the event; the same at every look."""

    event_type: Union[Literal["oz_run_created", "oz_run_claimed", "worker_container_ready", "agent_started", "oz_run_done", "oz_run_failed", "oz_run_errored", "oz_run_cancelled", "run_followup", "run_interrupt_requested", "run_cancel_requested", "run_taken_over", "run_handed_over"], str]
    """What happened, by the names that published clients know: the run was created, claimed by an execution, its workspace is prepared, its agent started; it was done, failed, errored or was cancelled. With `detail=all` also: it got a follow-up, somebody asked to interrupt or to cancel it, its execution was lost and taken over, or handed over by a service that stopped."""

    occurred_at: AwareDatetime
    """When it happened."""

    run_id: str
    """The run."""

    payload: Omittable[dict[str, Any]] = None
    """Details: source of a creation; execution_id of what is about an execution, and epoch of its claim; followup_id and outcome of a follow-up."""


class TokenExchange(ModelBase):
    """Exchanges a token of a build server for a key (RFC 8693, as JSON)."""

    grant_type: Union[Literal["urn:ietf:params:oauth:grant-type:token-exchange"], str]
    """Says that this is an exchange."""

    subject_token: str
    """The token: a signed JWT in its compact form."""

    subject_token_type: Union[Literal["urn:ietf:params:oauth:token-type:id_token", "urn:ietf:params:oauth:token-type:jwt"], str]
    """What it is: an ID token, or another JWT."""

    federated_credential_id: Omittable[str] = None
    """The federated credential that is meant, where several fit the token."""


class TreeFile(ModelBase):
    """One file of a factory's tree."""

    path: str
    """Path relative to the factory's root, with `/` between segments; no `..`, no empty segment, once in a tree."""

    content: str
    """Its text. More than 256 KiB (262,144 bytes of UTF-8) are a problem of the file."""


class WebhookCreate(ModelBase):
    """Makes a webhook on a factory that is managed here. Without `secret`, and without a `secret_name` that exists, a secret is generated, except for provider schemes: there the webhook is made disabled, to be finished when the provider’s secret is known."""

    name: str
    """Label for people, on one line. The slug is made of the first one."""

    auth_mode: Omittable[Union[Literal["token", "url_token", "signature"], str]] = None
    """How senders prove themselves. `token`: `Authorization: Bearer <secret>`. `url_token`: the secret is the last part of the URL. `signature`: each request is signed by the provider’s scheme."""

    signature_scheme: Omittable[str] = None
    """Signature scheme of the provider, with `auth_mode` `signature` only; `GET /signature-schemes` lists them. `github`, `stripe`, `standard_webhooks`, `sentry`, `pagerduty`, `vercel` or `circleci`."""

    secret: Omittable[str] = None
    """The credential, for example the provider’s signing secret; kept as a secret of the factory and never shown."""

    secret_name: Omittable[str] = None
    """Name of the managed secret: an existing one that the factory may use for webhooks is used as it is, any other is made. By default `<slug>-webhook`."""

    delivery_id_header: Omittable[str] = None
    """Request header whose value identifies a delivery: a second delivery with the same value starts nothing. A header of credentials, of the connection, of signatures, or one that is the same in many requests is refused."""

    replay_protection: Omittable[Union[Literal["body"], str]] = None
    """`body`: the signed body itself identifies a delivery too, for ever, so that a captured request that is sent again under another delivery ID starts nothing. With `auth_mode` `signature` only; for schemes that sign no time."""

    secret_overlap_minutes: Omittable[int] = None
    """Minutes for which the value of before is accepted too when the secret has got another one; none unless said."""

    enabled: Omittable[bool] = None
    """Whether it takes deliveries at once; by default as soon as its secret has a value."""

    description: Omittable[str] = None
    """What it is for."""


class WebhookPatch(ModelBase):
    """Changes a webhook of a factory that is managed here; members that are absent stay. It acts on the next delivery."""

    name: Omittable[str] = None
    """New label; slug and URL stay."""

    auth_mode: Omittable[Union[Literal["token", "url_token", "signature"], str]] = None
    """How senders prove themselves. `token`: `Authorization: Bearer <secret>`. `url_token`: the secret is the last part of the URL. `signature`: each request is signed by the provider’s scheme."""

    signature_scheme: Optional[str] = None
    """Signature scheme of the provider, with `auth_mode` `signature` only; `GET /signature-schemes` lists them. null removes it."""

    secret_name: Omittable[str] = None
    """Another existing managed secret that the factory may use for webhooks; its value is not shown."""

    delivery_id_header: Optional[str] = None
    """Request header whose value identifies a delivery: a second delivery with the same value starts nothing. A header of credentials, of the connection, of signatures, or one that is the same in many requests is refused. null removes it."""

    replay_protection: Optional[Union[Literal["body"], str]] = None
    """`body`: the signed body itself identifies a delivery too, for ever, from the next delivery on. With `auth_mode` `signature` only. null removes it."""

    secret_overlap_minutes: Optional[int] = None
    """Minutes for which the value of before is accepted too when the secret has got another one. Fewer shorten an overlap that is under way, null ends it."""

    enabled: Omittable[bool] = None
    """false: senders get 404 at once; automations and history stay."""

    description: Optional[str] = None
    """What it is for; null removes it."""


class WebhookRotate(ModelBase):
    """Replaces a webhook’s secret; the old one is dead with the answer."""

    secret: Omittable[str] = None
    """The provider’s new signing secret: required for provider schemes, possible for `standard_webhooks`, refused otherwise."""


class Webhook(ModelBase):
    """An HTTPS address of a factory that accepts JSON deliveries. Its secret is never part of it."""

    uid: str
    """Identifier, `wh_` and 26 characters; part of the ingress URL."""

    slug: str
    """Permanent name inside the factory: the name of its file, or made of its first name."""

    name: str
    """Label for people. On factories whose definitions are managed in files, the slug."""

    description: Optional[str]
    """What it is for; null when nobody said."""

    auth_mode: Union[Literal["token", "url_token", "signature"], str]
    """How senders prove themselves. `token`: `Authorization: Bearer <secret>`. `url_token`: the secret is the last part of the URL. `signature`: each request is signed by the provider’s scheme."""

    signature_scheme: Optional[str]
    """Signature scheme of the provider; null unless `auth_mode` is `signature`."""

    secret_name: str
    """Name of the managed secret that holds the credential."""

    secret_set: bool
    """Whether that secret has a value that this webhook uses. Without one nobody can authenticate."""

    delivery_id_header: Optional[str]
    """Request header, in lower case, whose value identifies a delivery; null: the scheme’s own, `X-Millwright-Delivery-Id`, or a hash of the body."""

    replay_protection: Optional[Union[Literal["body"], str]] = None
    """`body`: the signed body itself identifies a delivery too, so that a captured request that is sent again under another delivery ID starts nothing; null: it does not."""

    secret_overlap_minutes: Optional[int] = None
    """Minutes for which the value of before is accepted too when the secret has got another one; null: not at all."""

    previous_secret_until: Optional[AwareDatetime] = None
    """Until when the value of before is accepted too; null: it is not."""

    enabled: bool
    """Whether deliveries are taken; a disabled webhook answers 404."""

    ingress_url: str
    """Address that senders post to. For `url_token` it shows `{token}` where the secret goes."""

    version: int
    """Counts its changes; the `ETag` of the webhook."""

    revision: str
    """Revision of the definitions that decided it last: `branch@sha1:…`, `sha256:…`, or `dashboard@…`."""

    file: Optional[str]
    """File of the factory repository that says all this; null on factories that are managed here."""

    created_at: AwareDatetime
    """When it was first made."""

    updated_at: AwareDatetime
    """When it last changed."""

    last_delivery_at: Optional[AwareDatetime]
    """When the newest entry of its delivery log was received; null while there is none."""

    used_by_automations: Omittable[list[AutomationReference]] = None
    """Automations that a delivery can start, by slug; only where one webhook is looked at."""


class AgentIdentityCreateSecretsItem(ModelBase):
    name: str
    """Name of a managed secret."""


class AgentIdentityUpdateSecretsItem(ModelBase):
    name: str
    """Name of a managed secret."""


class AgentIdentityUpdateSecretsAppendItem(ModelBase):
    name: str
    """Name of a managed secret."""


class AgentIdentitySecretsItem(ModelBase):
    name: str
    """Name of the secret."""


class AgentIdentityMemoryAutoMemory(ModelBase):
    """Always off."""

    enabled: bool
    """Always false."""


class AgentIdentityMemory(ModelBase):
    """Nothing is remembered between runs."""

    attached_stores: list[str]
    """Always empty."""

    auto_memory: AgentIdentityMemoryAutoMemory
    """Always off."""


class AgentSkillVariantEnvironmentsItem(ModelBase):
    uid: str
    """The environment."""

    name: str
    """Its name."""


class AgentSkillVariantSource(ModelBase):
    """Where it is written."""

    owner: str
    """Owner of the repository; empty for a factory without a repository address."""

    name: str
    """Name of the repository; of a factory without one the factory's slug."""

    skill_path: str
    """Path of its SKILL.md."""


class AmbientAgentConfigSecretsItem(ModelBase):
    name: str
    """Name of a managed secret that is granted for runs."""

    host: Omittable[str] = None
    """Host whose https requests carry it; the run has a placeholder, and the value is added outside of its sandbox."""

    header: Omittable[str] = None
    """Header that carries it, with a scheme behind a colon where it is not Bearer."""

    methods: Optional[list[Union[Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"], str]]] = (
        None
    )
    """Methods of the requests; GET and HEAD unless said."""

    paths: Omittable[list[str]] = None
    """Paths of the requests; every one unless said. * stands for anything but a slash, ** for anything."""

    expose: Omittable[Union[Literal["env"], str]] = None
    """env: it is inside the sandbox, as a variable."""


class ApiKeyCreatePrincipal(ModelBase):
    """A new principal that the key belongs to. Without it and `principal_uid` the key belongs to whoever makes it."""

    type: Union[Literal["user", "service_account"], str]
    """Whether it is a person or a program."""

    display_name: str
    """Name for people."""

    email: Omittable[str] = None
    """Where its owner can be reached."""


class ArtifactItemData(ModelBase):
    """What it is; which members are there depends on its type."""

    artifact_uid: str
    """The artifact itself."""

    filename: Omittable[str] = None
    """FILE and PLAN: name of the file, A–Z a–z 0–9 . _ - only."""

    filepath: Omittable[str] = None
    """FILE and PLAN: its path in the workspace."""

    mime_type: Omittable[str] = None
    """FILE and PLAN: media type by the name's extension."""

    content_type: Omittable[str] = None
    """FILE and PLAN: the same as mime_type."""

    size_bytes: Omittable[int] = None
    """FILE and PLAN: size of the content in bytes."""

    download_url: Omittable[str] = None
    """FILE and PLAN: where the content is; asks for a key like everything else."""

    expires_at: Omittable[AwareDatetime] = None
    """Of one artifact alone, FILE: time until which download_url is good at least."""

    document_uid: Omittable[str] = None
    """PLAN: the plan; the same as artifact_uid."""

    notebook_uid: Omittable[str] = None
    """PLAN: the same as document_uid."""

    content: Omittable[str] = None
    """Of one artifact alone, PLAN: its text."""

    title: Omittable[str] = None
    """What the agent calls it; of a PLAN without that, its first heading."""

    note: Omittable[str] = None
    """FILE: what to know before believing it; of a diff, that it is the run's word."""

    url: Omittable[str] = None
    """PULL_REQUEST: its address."""

    branch: Omittable[str] = None
    """PULL_REQUEST: its branch; empty where the agent did not say."""

    status: Omittable[Union[Literal["unknown"], str]] = None
    """PULL_REQUEST: whether it is still open; this service does not ask the forge."""


class AuditEntryPrincipal(ModelBase):
    """Who made it."""

    uid: str
    """Stable identifier; `system` is the service itself: what it does at its start, and what it posts to a forge."""

    display_name: str
    """Name for people."""


class AutomationAgentHarness(ModelBase):
    """The program that carries out the run."""

    type: Omittable[str] = None
    """Harness as the server’s operator configured it."""

    model_id: Omittable[str] = None
    """Model inside this harness; wins over `model_id`."""

    reasoning_level: Omittable[str] = None
    """How long the model may think, in the harness’s own words."""


class AutomationAgentSecretsItem(ModelBase):
    name: str
    """Name of the managed secret; it becomes the variable’s name."""

    host: Omittable[str] = None
    """Host whose https requests carry it; the run has a placeholder, and the value is added outside of its sandbox."""

    header: Omittable[str] = None
    """Header that carries it, with a scheme behind a colon where it is not Bearer."""

    methods: Optional[list[Union[Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"], str]]] = (
        None
    )
    """Methods of the requests; GET and HEAD unless said."""

    paths: Omittable[list[str]] = None
    """Paths of the requests; every one unless said. * stands for anything but a slash, ** for anything."""

    expose: Omittable[Union[Literal["env"], str]] = None
    """env: it is inside the sandbox, as a variable."""


class AutomationCreateConcurrency(ModelBase):
    """How runs of the automation stand to each other."""

    group: Omittable[str] = None
    """Runs of one group take turns. Absent: all runs of the automation. A JSON pointer: its runs whose payloads have the same value there. Any other text: a name that all automations of the factory share."""

    when_busy: Omittable[Union[Literal["queue", "skip", "replace"], str]] = None
    """What a new run does while the group is busy: wait, start nothing, or cancel the old one."""


class AutomationCreateLimits(ModelBase):
    """A run that goes over one of these is ended."""

    tokens: Omittable[int] = None
    """Model tokens."""

    cost: Omittable[float] = None
    """Cost in the server’s currency."""

    minutes: Omittable[int] = None
    """Minutes from start to end."""


class AutomationCreateNetwork(ModelBase):
    """What a run may reach beside the model and its repositories."""

    allow: Omittable[list[str]] = None
    """Host names; a leading `*.` stands for any sub-domain."""


class AutomationPatchConcurrency(ModelBase):
    """How runs of the automation stand to each other. null removes it."""

    group: Omittable[str] = None
    """Runs of one group take turns. Absent: all runs of the automation. A JSON pointer: its runs whose payloads have the same value there. Any other text: a name that all automations of the factory share."""

    when_busy: Omittable[Union[Literal["queue", "skip", "replace"], str]] = None
    """What a new run does while the group is busy: wait, start nothing, or cancel the old one."""


class AutomationPatchLimits(ModelBase):
    """A run that goes over one of these is ended. null removes them."""

    tokens: Omittable[int] = None
    """Model tokens."""

    cost: Omittable[float] = None
    """Cost in the server’s currency."""

    minutes: Omittable[int] = None
    """Minutes from start to end."""


class AutomationPatchNetwork(ModelBase):
    """What a run may reach beside the model and its repositories. null removes it."""

    allow: Omittable[list[str]] = None
    """Host names; a leading `*.` stands for any sub-domain."""


class AutomationConcurrency(ModelBase):
    """How runs of the automation stand to each other."""

    group: Omittable[str] = None
    """Runs of one group take turns. Absent: all runs of the automation. A JSON pointer: its runs whose payloads have the same value there. Any other text: a name that all automations of the factory share."""

    when_busy: Omittable[Union[Literal["queue", "skip", "replace"], str]] = None
    """What a new run does while the group is busy: wait, start nothing, or cancel the old one."""


class AutomationSchedulesItem(ModelBase):
    schedule_id: str
    """Identifier; another one when name or expression change."""

    name: Omittable[str] = None
    """Its label; absent when it has none."""

    cron: str
    """Five cron fields in UTC, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`."""

    next_at: Optional[AwareDatetime]
    """When it fires next; null while the automation is disabled."""

    last_fired_at: Optional[AwareDatetime]
    """Tick that it last fired for; null while it never did."""

    missed: int
    """Ticks for which nothing was started, because the service was down, full or short of disk then."""

    last_missed_at: Optional[AwareDatetime]
    """The latest of these ticks; null while there is none."""


class AutomationLimits(ModelBase):
    """A run that goes over one of these is ended."""

    tokens: Omittable[int] = None
    """Model tokens."""

    cost: Omittable[float] = None
    """Cost in the server’s currency."""

    minutes: Omittable[int] = None
    """Minutes from start to end."""


class AutomationNetwork(ModelBase):
    """What a run may reach beside the model and its repositories."""

    allow: Omittable[list[str]] = None
    """Host names; a leading `*.` stands for any sub-domain."""


class AutomationRecentRuns(ModelBase):
    """Runs that it started within the last seven days."""

    total: int
    """All of them; at most what is counted, 10,000."""

    states: dict[str, int]
    """By state; states without any are left out."""


class ChangeValuesItem(ModelBase):
    key: str
    """JSON pointer into the definition."""

    before: Omittable[str] = None
    """JSON text of the old value; absent where there was none."""

    after: Omittable[str] = None
    """JSON text of the new value; absent where there is none."""


class ChangeSecretBefore(ModelBase):
    """What it uses now; null for a new webhook."""

    name: str
    """Name of the secret."""

    version: int
    """How often its value was set; 0: not set, or nothing that this factory may use."""

    fingerprint: Optional[str]
    """Equal for equal values within this factory, and good for nothing else; null where none is set."""


class ChangeSecretAfter(ModelBase):
    """What it will use."""

    name: str
    """Name of the secret."""

    version: int
    """How often its value was set; 0: not set, or nothing that this factory may use."""

    fingerprint: Optional[str]
    """Equal for equal values within this factory, and good for nothing else; null where none is set."""


class ChangeSecret(ModelBase):
    """Of a plan: the secret of a webhook that is made, or that changes its `secretName`. Never its value."""

    before: Optional[ChangeSecretBefore]
    """What it uses now; null for a new webhook."""

    after: Optional[ChangeSecretAfter]
    """What it will use."""


class ChangeTraffic(ModelBase):
    """Of a plan: use that was made of the object within the last days, counted by the times that IDs name. Of a webhook: its deliveries and the runs that they started. Of an automation: deliveries to the webhooks that it selects now or will, and its runs. Of an environment or skill: runs of the factory that named it; a skill that is named by its repository is not told. Of the factory: everything."""

    days: int
    """Days that are counted."""

    deliveries: Optional[int]
    """Entries of the delivery log; null for environments and skills."""

    accepted: Optional[int]
    """Deliveries of these that were accepted; null for environments and skills."""

    runs: int
    """Runs that were created."""

    failed_runs: int
    """Runs of these that ended as FAILED or ERROR."""

    last_delivery_at: Optional[AwareDatetime]
    """The newest of the deliveries; null without any."""

    last_run_at: Optional[AwareDatetime]
    """When the newest of the runs was created; null without any."""


class ChangeUsedByItem(ModelBase):
    kind: Union[Literal["automation", "schedule", "agent_identity"], str]
    """What it is."""

    name: str
    """The name that it has now."""

    uid: Omittable[str] = None
    """Identifier of a schedule or an agent identity; absent for an automation."""


class ChangeRunSecretsItem(ModelBase):
    name: str
    """Name of the managed secret."""

    host: Omittable[str] = None
    """Host whose requests carry it: it is added outside of the sandbox."""

    header: Omittable[str] = None
    """Header that carries it."""

    methods: Omittable[list[str]] = None
    """Methods of these requests."""

    paths: Omittable[list[str]] = None
    """Paths of these requests."""

    expose: Omittable[str] = None
    """env: it is inside the sandbox, as a variable."""


class ChangeReplay(ModelBase):
    """Of a plan: the newest accepted deliveries that are stored, 50 at most, asked again. Of an automation whose triggers or `enabled` change, or that comes or goes: those of all webhooks that it selects, on either side; whether it would start. Of a webhook that is enabled, disabled, made or deleted: its own; whether anything would start."""

    deliveries: int
    """Deliveries that were asked."""

    before: int
    """How many of them start something as it is now."""

    after: int
    """How many of them would start something once this is applied."""

    starts: list[str]
    """Log entries that start nothing now and would: the newest 5."""

    stops: list[str]
    """Log entries that start something now and would not: the newest 5."""

    unreadable: int
    """Deliveries whose stored payload cannot be read; they count as starting nothing."""

    filters_unreadable: int
    """Filters, now and then, that cannot be used; they match nothing."""

    cut: bool
    """Asking the older of the deliveries too would be more work than a plan may take: the counts are those of the newest `deliveries` alone, of which there can be none. The same plan is cut at the same place each time."""


class CloudEnvironmentConfigGithubReposItem(ModelBase):
    owner: str
    """Owner of the repository."""

    repo: str
    """Name of the repository."""


class ConversationMessageContentItem(ModelBase):
    type: Union[Literal["text"], str]
    """Kind of content."""

    text: str
    """What was said."""


class DeliveryStatisticsBucketsItem(ModelBase):
    from_: Annotated[AwareDatetime, Field(alias="from")]
    """Begin of the bucket."""

    outcomes: dict[str, int]
    """Deliveries by outcome; refusals beyond 60 a minute with their count."""


class DeliveryRefusal(ModelBase):
    """Of a refused delivery: which check it failed. Never shows a value that was sent. Absent for entries that stand for many."""

    check: Union[Literal["credential", "signature", "timestamp", "size", "json"], str]
    """The check that failed."""

    header: Omittable[str] = None
    """The header that is missing, repeated or malformed, where one is to blame."""

    skew_seconds: Omittable[int] = None
    """How far the sender's timestamp was off, where one was read: positive for the past."""

    hint: Optional[Union[Literal["trailing-newline", "re-encoded-json", "key-encoding", "other-scheme"], str]] = (
        None
    )
    """For managers: the common mistake with which the signature would have matched. Looked for at receipt, as long as the client's failures are within their budget."""


class DeliveryStartedItem(ModelBase):
    automation_id: str
    """The automation that matched."""

    run_id: str
    """The run that it started."""


class DeliverySkippedItem(ModelBase):
    automation_id: str
    """The automation."""

    reason: Union[Literal["disabled", "filter", "filter-unreadable", "filter-budget", "busy"], str]
    """Why it started nothing; `filter-budget`: the filters before its own took all the time that there is for one delivery; `busy`: another run of its concurrency group was open."""

    failed_pointer: Omittable[str] = None
    """First key of its filter that failed."""

    operator: Omittable[Union[Literal["in", "not_in", "exists", "nested"], str]] = None
    """What that key asks for."""


class DiagnosticExcerpt(ModelBase):
    """The lines around the place; long ones are cut, `•••` stands for what could be a secret, and what cannot be printed is written as `\\u{…}`. Absent where the text was not at hand, and beyond the first hundred problems."""

    first_line: int
    """Number of the first of these lines."""

    lines: list[str]
    """At most five."""


class ErrorErrorsItem(ModelBase):
    """One thing that is wrong."""

    pointer: str
    """JSON pointer into the body, name of a query parameter, or name of a header."""

    message: str
    """What is wrong with it, and what would be right."""


class FactoryAgentDefaultsSecretsItem(ModelBase):
    name: str
    """Name of a managed secret that is granted for runs."""

    host: Omittable[str] = None
    """Host whose https requests carry it; the run has a placeholder, and the value is added outside of its sandbox."""

    header: Omittable[str] = None
    """Header that carries it, with a scheme behind a colon where it is not Bearer."""

    methods: Optional[list[Union[Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"], str]]] = (
        None
    )
    """Methods of the requests; GET and HEAD unless said."""

    paths: Omittable[list[str]] = None
    """Paths of the requests; every one unless said. * stands for anything but a slash, ** for anything."""

    expose: Omittable[Union[Literal["env"], str]] = None
    """env: it is inside the sandbox, as a variable."""


class FactoryFilesValidateResultDeferredResolutionsItem(ModelBase):
    path: str
    """File, relative to the factory's root."""

    field: str
    """Key that holds the name, dotted from the root of the file, as the file has it."""

    kind: Union[Literal["secret", "environment", "model", "harness", "webhook", "skill"], str]
    """What it names."""


class FactoryFilesValidateResultValidationScope(ModelBase):
    """What was checked."""

    parser: Union[Literal["checked"], str]
    """Whether the files can be read."""

    state_independent: Union[Literal["checked"], str]
    """What follows from the files alone."""

    state_dependent: Union[Literal["not_checked"], str]
    """What a factory has to be known for; a plan checks it."""


class FactoryStatusCondition(ModelBase):
    """How the last pass ended."""

    ending: Union[Literal["applied", "blocked", "failed", "none"], str]
    """`none` before the first pass; else as a sync's."""

    reason: Optional[str]
    """kebab-case word for programs; null for `applied`."""

    message: Optional[str]
    """Sentence for people; null for `applied`."""

    since: AwareDatetime
    """Since when passes have ended like this, revision and problems included."""

    checked_at: AwareDatetime
    """When the last pass ended."""


class FactoryStatusRecentSyncsItem(ModelBase):
    id: str
    """The pass."""

    finished_at: AwareDatetime
    """When it ended."""

    ending: Union[Literal["applied", "blocked", "failed"], str]
    """As a sync's."""

    reason: Optional[str]
    """As a sync's."""

    revision: Optional[str]
    """Revision that was looked at."""

    changes: int
    """How many were applied."""

    problems: int
    """How many were found."""

    superseded: int
    """Commits in between that never applied by themselves."""


class FactoryRepositoriesItem(ModelBase):
    owner: str
    """Owner of the repository."""

    repo: str
    """Name of the repository."""


class FilterReplayResultDeliveriesItemPayloadCheck(ModelBase):
    """Whether the payload satisfies the filter; absent where it was not asked."""

    passed: bool
    """Outcome."""

    failed_pointer: Omittable[str] = None
    """First key of the filter that fails, as a JSON pointer of field names; empty for the root."""

    operator: Omittable[Union[Literal["in", "not_in", "exists", "nested"], str]] = None
    """What that key asks for."""


class FilterReplayResultDeliveriesItem(ModelBase):
    entry_id: str
    """Log entry."""

    webhook_uid: str
    """Where it came."""

    delivery_id: str
    """Identity of the delivery."""

    received_at: AwareDatetime
    """When it came."""

    result: Union[Literal["Would trigger", "Would not trigger", "Undecided"], str]
    """`Undecided`: the stored payload cannot be read any more, or the work that one request may ask was spent before."""

    payload_check: Omittable[FilterReplayResultDeliveriesItemPayloadCheck] = None
    """Whether the payload satisfies the filter; absent where it was not asked."""


class FilterTestResultWebhookCheck(ModelBase):
    """Whether the trigger selects the webhook. Passes where no webhook_uids are given."""

    passed: bool
    """Outcome."""

    reason: Omittable[str] = None
    """Why it did not pass."""


class FilterTestResultPayloadCheck(ModelBase):
    """Whether the payload satisfies the filter."""

    passed: bool
    """Outcome."""

    failed_pointer: Omittable[str] = None
    """First key of the filter that fails, as a JSON pointer of field names; empty for the root."""

    operator: Omittable[Union[Literal["in", "not_in", "exists", "nested"], str]] = None
    """What that key asks for; `nested`: an object, or an array with an element that fits."""


class HandoffAttachmentListAttachmentsItem(ModelBase):
    attachment_id: str
    """UID of the artifact."""

    filename: str
    """Name of the file."""

    mime_type: Omittable[str] = None
    """Its media type."""

    download_url: str
    """Where the content is; asks for a key like everything else."""


class ModelListAvailabilityMissingHarnessesItem(ModelBase):
    id: str
    """Its name."""

    way_out: str
    """What brings it."""


class ModelListAvailability(ModelBase):
    """Which of them are to be had on the machine where runs are worked on; absent where this process works on none."""

    default_harness: str
    """Harness of a run that names none."""

    built_in_harnesses: list[str]
    """Names of the agent that comes with the service."""

    demo_model_only: bool
    """No model is configured: the built-in agent has the demo model, and a run of it that names another fails."""

    installed_harnesses: list[str]
    """Harnesses that are there."""

    missing_harnesses: list[ModelListAvailabilityMissingHarnessesItem]
    """Harnesses that can be named, and whose runs fail."""


class PlanRef(ModelBase):
    """Of a ref: what was read."""

    name: Optional[str]
    """Full name of the ref; null where a commit was asked for."""

    commit: str
    """Its commit."""


class PlanAdviceItem(ModelBase):
    path: str
    """File, relative to the factory's root."""

    message: str
    """What is missing there, and the line that mends it."""


class PlanGrowthItem(ModelBase):
    automation: str
    """Name of the automation whose runs get it."""

    path: str
    """File of the automation; the cause may stand in its environment or in factory.yaml."""

    kind: Union[Literal["input", "secret", "host", "repository", "tool", "effect", "budget"], str]
    """What it is: who writes what runs read, or what they have."""

    what: str
    """Its name; never a value."""

    before: Omittable[str] = None
    """What it was, where it gets wider."""

    after: Omittable[str] = None
    """What it would be, where its name does not say that."""


class PlanSummary(ModelBase):
    """Number of changes by action, and of held deletions."""

    create: int
    """Objects to create."""

    update: int
    """Objects to update."""

    delete: int
    """Objects to delete."""

    held: int
    """Deletions held back."""


class RevisionStatusReplicasItem(ModelBase):
    name: str
    """Host, process and a random part."""

    seen_at: AwareDatetime
    """When it was heard of last."""

    serving: bool
    """Whether it has loaded what is applied in this factory."""


class RunEventPayloadEntriesItem(ModelBase):
    """One step."""

    content: Omittable[str] = None
    """What is to be done."""

    priority: Omittable[str] = None
    """high, medium or low."""

    status: Omittable[str] = None
    """pending, in_progress or completed."""


class RunEventPayloadCost(ModelBase):
    """What the session has cost so far."""

    amount: Omittable[float] = None
    """Amount."""

    currency: Omittable[str] = None
    """ISO 4217, or credits and the like."""


class RunEventPayload(ModelBase):
    """stdout, stderr, message, thought: text. status: text, or state and message. tool_call, tool_call_update, plan, usage, permission: their members."""

    text: Omittable[str] = None
    """What was written."""

    state: Omittable[RunState] = None
    message: Omittable[str] = None
    """Why it is in that state."""

    tool_call_id: Omittable[str] = None
    """Names the call in all of its events."""

    title: Omittable[str] = None
    """What the call does, for people."""

    tool_kind: Omittable[str] = None
    """Kind of tool: read, edit, execute, search and the like."""

    status: Omittable[str] = None
    """Where the call stands: pending, in_progress, completed or failed."""

    input: Omittable[str] = None
    """What the tool was given, as JSON text; the middle of more than 4,096 characters is left out."""

    output: Omittable[str] = None
    """What the tool answered; the middle of more than 4,096 characters is left out."""

    paths: Omittable[list[str]] = None
    """Files that the call concerns."""

    entries: Omittable[list[RunEventPayloadEntriesItem]] = None
    """Steps of a plan."""

    tokens: Omittable[int] = None
    """Tokens that the session has used so far, where the agent tells it."""

    permission_id: Omittable[str] = None
    """permission: the question, where people are asked."""

    options: Omittable[list[PermissionOption]] = None
    """permission: answers that the agent offers."""

    answer: Omittable[str] = None
    """permission: the option that was chosen; absent while nobody has, and where none was."""

    by: Omittable[str] = None
    """permission: who decided: the UID of a principal, `policy`, or `service`."""

    context_tokens: Omittable[int] = None
    """Tokens in the context of the model now."""

    context_tokens_max: Omittable[int] = None
    """Tokens that the context can hold."""

    cost: Omittable[RunEventPayloadCost] = None
    """What the session has cost so far."""


class RunStatisticsBucketsItemStartLatency(ModelBase):
    """Milliseconds from creation to the first start, of runs that were created in the bucket and have started."""

    count: int
    """Runs."""

    p50_ms: Omittable[int] = None
    """Median."""

    p90_ms: Omittable[int] = None
    """Nine of ten are faster."""

    p99_ms: Omittable[int] = None
    """Ninety-nine of a hundred are faster."""


class RunStatisticsBucketsItem(ModelBase):
    from_: Annotated[AwareDatetime, Field(alias="from")]
    """Begin of the bucket."""

    states: dict[str, int]
    """Runs by the state that they are in now."""

    start_latency: RunStatisticsBucketsItemStartLatency
    """Milliseconds from creation to the first start, of runs that were created in the bucket and have started."""


class RunStatisticsStartLatency(ModelBase):
    """The same over all buckets."""

    count: int
    """Runs."""

    p50_ms: Omittable[int] = None
    """Median."""

    p90_ms: Omittable[int] = None
    """Nine of ten are faster."""

    p99_ms: Omittable[int] = None
    """Ninety-nine of a hundred are faster."""


class ScheduleItemHistory(ModelBase):
    """When it started a run, and when it does next."""

    last_ran: Omittable[AwareDatetime] = None
    """Absent: never yet."""

    next_run: Omittable[AwareDatetime] = None
    """Absent: never, or it does not fire now."""

    missed: int
    """Ticks that came too late to start a run."""

    last_missed_at: Omittable[AwareDatetime] = None
    """The latest of them; absent: there is none."""


class SchemaDocumentListSchemasItem(ModelBase):
    name: Union[Literal["factory", "webhook", "automation", "environment", "agent"], str]
    """Name of the document."""

    description: str
    """What it describes."""

    url: str
    """Where it is."""

    etag: str
    """Its entity tag, as that address answers it."""


class SchemaDocumentListVersionsItem(ModelBase):
    schema_version: str
    """The version."""

    schema_url: str
    """Where all of its documents are: a path from the root of this server."""


class SecretPutGrants(ModelBase):
    """Who may use it for what; what is not named stays as it is. By default all factories, for webhooks."""

    factories: Omittable[Union[Literal["*"], str, list[str]]] = None
    """`*` for all, or UIDs of factories; a factory's own secret is always for that factory only."""

    uses: Omittable[list[Union[Literal["webhook", "run", "git", "forge"], str]]] = None
    """`webhook` authenticates deliveries, `run` is a variable of runs, `git` reads the repository, `forge` verifies and answers its host."""

    runs: Omittable[Union[Literal["files", "*"], str, list[str]]] = None
    """Which runs, where `uses` has them. `files` (unless said): those for which a file of the factory names it (their automation, their environment or factory.yaml). `*`: also those whose request names it, and inside runs that a request starts, so that whoever may start runs can read it. A list: of the first, only runs of these automations and in these environments."""

    hosts: Optional[Union[Optional[Union[Literal["*"], str]], list[str]]] = None
    """Where its value may go: to git hosts, and by injections. Hosts (`example.com`, `*.example.com`, `example.com:8443`; without a port https and ssh); `*`: any; null: none yet, the first one that it is sent to is its host from then on."""


class SecretGrants(ModelBase):
    """Who may use it for what; to everybody else it does not exist."""

    factories: Union[Literal["*"], str, list[str]]
    """`*` for all, or UIDs of factories."""

    uses: list[Union[Literal["webhook", "run", "git", "forge"], str]]
    """What it may be used for."""

    runs: Omittable[Union[Literal["files", "*"], str, list[str]]] = None
    """Which runs, where `uses` has them: `files`, those for which a file of the factory names it; `*`, also those whose request does; or only those of these automations (`automation/<slug>`) and environments (`environment/<slug>`)."""

    hosts: Omittable[Union[Literal["*"], str, list[str]]] = None
    """Where its value may go; absent: no host yet, the first one that it is sent to is its host from then on."""


class SignatureSchemeListUnavailableItem(ModelBase):
    id: str
    """Identifier of the scheme."""

    reason: str
    """Why it is not served."""


class SyncPolicyVerifyCommits(ModelBase):
    """Only a tip that one of these keys signed may apply; what was verified last serves on. Git sources only."""

    keys: list[str]
    """OpenSSH public keys (`ssh-ed25519 AAAA… comment`, one a string) and armoured OpenPGP public key blocks."""


class SyncPolicyWindowsItem(ModelBase):
    kind: Union[Literal["allow", "deny"], str]
    """`allow` or `deny`."""

    schedule: str
    """When it opens: five cron fields, in UTC."""

    duration_minutes: int
    """How long it stays open."""


class AgentIdentityCreate(ModelBase):
    """Makes an agent identity: defaults of the runs that name it. Unknown members are ignored."""

    name: str
    """Its name."""

    factory_uid: Optional[str] = None
    """Factory that it belongs to, and its runs with it."""

    harness: Omittable[AgentHarness] = None
    """Program that drives its agent, with its model."""

    skills: Omittable[list[str]] = None
    """Skills of its runs."""

    secrets: Omittable[list[AgentIdentityCreateSecretsItem]] = None
    """Managed secrets of its runs, by name; each as its grants allow."""

    description: Optional[str] = None
    """What it is for."""

    agent_type: Optional[Union[Literal["FOREMAN", "TRIAGE", "SPEC", "IMPLEMENT", "REVIEW", "VERIFY", "CUSTOM"], str]] = (
        None
    )
    """A label; it changes nothing."""

    prompt: Optional[str] = None
    """Base prompt of its runs."""

    base_model: Optional[str] = None
    """Model of its runs."""

    base_harness: Optional[str] = None
    """Older form of harness.type."""

    environment_id: Optional[str] = None
    """Environment of its runs: its UID, or the name of one of the factory's."""

    worker_host: Optional[str] = None
    """Machine that works on its runs."""

    mcp_servers: Omittable[dict[str, MCPServerConfig]] = None
    """MCP servers of its runs, by name."""

    credential_strategy: Optional[Any] = None
    """With whose credentials its runs work. Not served here: a value that would change something is answered with 422."""

    default_runner_uid: Optional[Any] = None
    """Runner of its runs. Not served here: a value that would change something is answered with 422."""

    harness_auth_secrets: Optional[Any] = None
    """Secrets of other harnesses; the operator's profiles name theirs. Not served here: a value that would change something is answered with 422."""

    inference_providers: Optional[Any] = None
    """Where models are called. Not served here: a value that would change something is answered with 422."""

    memory: Optional[Any] = None
    """What it remembers between runs. Not served here: a value that would change something is answered with 422."""

    on_behalf_of_enabled: Optional[Any] = None
    """Whether its runs may be somebody else's. Not served here: a value that would change something is answered with 422."""


class AgentIdentityUpdate(ModelBase):
    """Changes an agent identity: what is left out or null stays; an empty text, list or object clears."""

    name: Omittable[str] = None
    """Its name."""

    harness: Optional[AgentHarness] = None
    """Program that drives its agent, with its model; without members: none."""

    skills: Optional[list[str]] = None
    """Skills of its runs."""

    secrets: Optional[list[AgentIdentityUpdateSecretsItem]] = None
    """Managed secrets of its runs, in place of those that it has."""

    secrets_append: Omittable[list[AgentIdentityUpdateSecretsAppendItem]] = None
    """Managed secrets beside those that it has; by itself in a request."""

    description: Optional[str] = None
    """What it is for."""

    agent_type: Optional[Union[Literal["FOREMAN", "TRIAGE", "SPEC", "IMPLEMENT", "REVIEW", "VERIFY", "CUSTOM"], str]] = (
        None
    )
    """A label; it changes nothing."""

    prompt: Optional[str] = None
    """Base prompt of its runs."""

    base_model: Optional[str] = None
    """Model of its runs."""

    base_harness: Optional[str] = None
    """Older form of harness.type."""

    environment_id: Optional[str] = None
    """Environment of its runs: its UID, or the name of one of the factory's."""

    worker_host: Optional[str] = None
    """Machine that works on its runs."""

    mcp_servers: Omittable[dict[str, MCPServerConfig]] = None
    """MCP servers of its runs, by name."""

    credential_strategy: Optional[Any] = None
    """With whose credentials its runs work. Not served here: a value that would change something is answered with 422."""

    default_runner_uid: Optional[Any] = None
    """Runner of its runs. Not served here: a value that would change something is answered with 422."""

    harness_auth_secrets: Optional[Any] = None
    """Secrets of other harnesses; the operator's profiles name theirs. Not served here: a value that would change something is answered with 422."""

    inference_providers: Optional[Any] = None
    """Where models are called. Not served here: a value that would change something is answered with 422."""

    memory: Optional[Any] = None
    """What it remembers between runs. Not served here: a value that would change something is answered with 422."""

    on_behalf_of_enabled: Optional[Any] = None
    """Whether its runs may be somebody else's. Not served here: a value that would change something is answered with 422."""


class AgentIdentity(ModelBase):
    """An agent identity: defaults of the runs that name it."""

    uid: str
    """UUIDv7."""

    name: str
    """Its name."""

    available: bool
    """Always true."""

    created_at: AwareDatetime
    """When it was made."""

    updated_at: AwareDatetime
    """When it was changed last."""

    description: Omittable[str] = None
    """What it is for."""

    agent_type: Omittable[str] = None
    """A label."""

    factory_uid: Omittable[str] = None
    """Factory that it belongs to."""

    prompt: Omittable[str] = None
    """Base prompt of its runs."""

    base_model: Omittable[str] = None
    """Model of its runs."""

    base_harness: Omittable[str] = None
    """Type of its harness."""

    harness: Omittable[AgentHarness] = None
    """Program that drives its agent."""

    environment_id: Omittable[str] = None
    """Environment of its runs."""

    worker_host: Omittable[str] = None
    """Machine that works on its runs."""

    mcp_servers: Omittable[dict[str, MCPServerConfig]] = None
    """MCP servers of its runs, by name."""

    skills: list[str]
    """Skill of its runs."""

    secrets: list[AgentIdentitySecretsItem]
    """Managed secrets of its runs."""

    default_runner_uid: str
    """Always empty: there are no runners."""

    memory: AgentIdentityMemory
    """Nothing is remembered between runs."""


class AgentSkillVariant(ModelBase):
    """A skill as one factory has it."""

    id: str
    """What `skill` is set to: owner/repo:path/to/SKILL.md; of a factory without a repository address the skill's name."""

    description: str
    """What the skill says of itself; empty when it says nothing."""

    base_prompt: str
    """Text of the skill without its front matter."""

    environments: list[AgentSkillVariantEnvironmentsItem]
    """Environments of the same factory."""

    source: AgentSkillVariantSource
    """Where it is written."""

    factory_uid: str
    """Factory that has it."""

    last_run_timestamp: Optional[AwareDatetime]
    """When the run of the factory that used it last was created, of those that have ended; null when none has."""


class AgentSkill(ModelBase):
    """A skill that runs can be started with."""

    name: str
    """Name of the skill."""

    variants: list[AgentSkillVariant]
    """The skill of this name in each factory that has one."""


class AmbientAgentConfig(ModelBase):
    """Configuration of an agent. In a request: what the run itself says; a RunItem shows it resolved, run over automation over factory over server."""

    name: Omittable[str] = None
    """Label for grouping and filtering; by default the name of the skill, else of the automation."""

    model_id: Omittable[str] = None
    """Language model."""

    base_prompt: Omittable[str] = None
    """Shapes the agent's behaviour."""

    environment_id: Omittable[str] = None
    """Environment: its UID, or the name of one of the factory's."""

    skill_spec: Omittable[str] = None
    """Skill used as the base prompt: owner/repo:skill-name, owner/repo:path/to/SKILL.md, or the name of a skill of the factory."""

    skills: Omittable[list[str]] = None
    """Several skills in order, each written as in skill_spec, which must not stand beside it; the texts of all are the base prompt, one behind the other."""

    mcp_servers: Omittable[dict[str, MCPServerConfig]] = None
    """MCP servers by name; a level's servers replace those of the levels below it."""

    harness: Omittable[AgentHarness] = None
    """Program that drives the agent."""

    idle_timeout_minutes: Omittable[int] = None
    """Minutes that an interactive run waits for the answer to what its agent asks permission for, before that is refused; 0: it does not wait; 10 unless said."""

    computer_use_enabled: Omittable[bool] = None
    """Whether the agent may use a desktop; there is none here, so that true is ignored."""

    worker_host: Omittable[str] = None
    """Machine that works on the run: what its service is called (MILLWRIGHT_WORKER_HOST). The run waits until that one has a place; without it, or with `warp`, any machine will do."""

    secrets: Omittable[list[AmbientAgentConfigSecretsItem]] = None
    """Managed secrets of the run: added outside of its sandbox, or inside as environment variables; a level's list replaces those of the levels below it."""


class ApiKeyCreate(ModelBase):
    """Makes an API key."""

    name: str
    """What it is for."""

    role: Union[Literal["viewer", "operator", "manager", "admin"], str]
    """What it may do; a key that is limited to factories cannot be `admin`."""

    principal: Omittable[ApiKeyCreatePrincipal] = None
    """A new principal that the key belongs to. Without it and `principal_uid` the key belongs to whoever makes it."""

    principal_uid: Omittable[str] = None
    """UID of an existing principal that the key belongs to; not together with `principal`."""

    factories: Omittable[list[str]] = None
    """UIDs of the only factories it may see; absent: all of them."""

    expires_at: Omittable[AwareDatetime] = None
    """From when on it is refused; in the future. Absent: never, unless `expires_in_days` says otherwise."""

    expires_in_days: Omittable[int] = None
    """The same as days from now; not together with `expires_at`."""


class ApiKey(ModelBase):
    """An API key without its text, which nobody can see again."""

    id: str
    """The key's identifier; says nothing about its text."""

    name: str
    """What it is for, in its maker's words."""

    role: Union[Literal["viewer", "operator", "manager", "admin"], str]
    """What it may do, each role including those before it: `viewer` reads, `operator` starts and steers runs, `manager` manages a factory, `admin` everything."""

    principal: Principal
    factories: Optional[list[str]]
    """UIDs of the only factories it may see; null: all of them, also later ones."""

    hint: str
    """First characters of its text, to tell keys apart."""

    created_at: AwareDatetime
    """When it was made."""

    created_by: Optional[str]
    """UID of the principal that made it; null for the first one, which the service made itself."""

    expires_at: Optional[AwareDatetime]
    """From when on it is refused; null: never."""

    revoked_at: Optional[AwareDatetime]
    """Since when it is refused because somebody revoked it; null while it was not."""

    last_used_at: Optional[AwareDatetime]
    """When it was last used, exact to about a minute; null: never."""

    federated_credential_id: Omittable[str] = None
    """The federated credential by which a token was exchanged for it; absent: somebody made it."""


class ArtifactItem(ModelBase):
    """Something that a run has made and that outlives its workspace."""

    artifact_uid: str
    """UUIDv7 of the artifact."""

    artifact_type: Union[Literal["FILE", "PLAN", "PULL_REQUEST"], str]
    """FILE: a file. PLAN: a plan in Markdown. PULL_REQUEST: a link to a pull request."""

    run_id: str
    """Run that made it."""

    created_at: AwareDatetime
    """When it was stored."""

    data: ArtifactItemData
    """What it is; which members are there depends on its type."""


class AuditEntry(ModelBase):
    """One change: who made it, what, when, and from where."""

    id: str
    """The entry."""

    at: AwareDatetime
    """When the change was made."""

    principal: AuditEntryPrincipal
    """Who made it."""

    key_id: Optional[str]
    """The API key that was used; null where none was."""

    action: str
    """What was done, as `noun.verb`: `secret.change`, `api_key.revoke`."""

    subject: str
    """What it was done to: an identifier, or a secret's name."""

    factory_uid: Optional[str]
    """The factory that it concerns; null where it concerns none, or all."""

    address: Optional[str]
    """Where the request came from: the client address as trusted proxies tell it."""

    details: dict[str, Any]
    """Further facts of this action, such as the new version; never a secret, a payload or a prompt."""


class AuditList(ModelBase):
    """A page of the audit trail, newest first."""

    entries: list[AuditEntry]
    """The entries of this page."""

    page_info: PageInfo


class AutomationAgent(ModelBase):
    """How an automation wants its agent to run, before what factory and server say."""

    model_id: Omittable[str] = None
    """Language model."""

    base_prompt: Omittable[str] = None
    """Text put before every prompt."""

    environment_id: Omittable[str] = None
    """Environment of the run."""

    skill_spec: Omittable[str] = None
    """Skill used as base prompt: `owner/repo:skill-name` or `owner/repo:path/to/SKILL.md`, or a skill of the factory."""

    mcp_servers: Omittable[dict[str, dict[str, Any]]] = None
    """MCP servers that the agent may use, by name: `command`, `args`, `env`, or `url`, `headers`."""

    harness: Omittable[AutomationAgentHarness] = None
    """The program that carries out the run."""

    secrets: Omittable[list[AutomationAgentSecretsItem]] = None
    """Managed secrets of the run: added outside of its sandbox, or inside as environment variables."""

    idle_timeout_minutes: Omittable[int] = None
    """Minutes that an agent which has nothing to do keeps waiting for follow-ups."""


class AutomationCreate(ModelBase):
    """Makes an automation on a factory that is managed here, under the rules of automation files."""

    name: str
    """Label for people, on one line. The slug is made of the first one."""

    description: Omittable[str] = None
    """What it is for."""

    enabled: Omittable[bool] = None
    """false: its triggers start nothing."""

    triggers: list[AutomationTriggerRequest]
    """What starts it; any one is enough."""

    prompt: str
    """What the agent shall do; not empty."""

    agent: Omittable[AutomationAgent] = None
    """What it says of the agent; what is absent, factory and server decide."""

    concurrency: Omittable[AutomationCreateConcurrency] = None
    """How runs of the automation stand to each other."""

    limits: Omittable[AutomationCreateLimits] = None
    """A run that goes over one of these is ended."""

    network: Omittable[AutomationCreateNetwork] = None
    """What a run may reach beside the model and its repositories."""


class AutomationPatch(ModelBase):
    """Changes an automation of a factory that is managed here; members that are absent stay, the others are replaced whole. It acts on the next delivery."""

    name: Omittable[str] = None
    """New label; slug and UID stay."""

    description: Optional[str] = None
    """What it is for; null removes it."""

    enabled: Omittable[bool] = None
    """false: its triggers start nothing."""

    triggers: Omittable[list[AutomationTriggerRequest]] = None
    """What starts it; any one is enough."""

    prompt: Omittable[str] = None
    """What the agent shall do; not empty."""

    agent: Optional[AutomationAgent] = None
    """What it says of the agent; null: nothing, so that factory and server decide."""

    concurrency: Optional[AutomationPatchConcurrency] = None
    """How runs of the automation stand to each other. null removes it."""

    limits: Optional[AutomationPatchLimits] = None
    """A run that goes over one of these is ended. null removes them."""

    network: Optional[AutomationPatchNetwork] = None
    """What a run may reach beside the model and its repositories. null removes it."""


class Automation(ModelBase):
    """What starts runs of a factory, and what these runs do."""

    uid: str
    """Identifier, `auto_` and 26 characters."""

    slug: str
    """Permanent name inside the factory: the name of its folder, or made of its first name."""

    name: str
    """Label for people; titles of runs begin with it. On factories whose definitions are managed in files, the slug."""

    description: Omittable[str] = None
    """What it is for; absent when nobody said."""

    enabled: bool
    """Whether its triggers start anything."""

    triggers: list[AutomationTrigger]
    """What starts it; any one is enough."""

    prompt: str
    """What the agent shall do."""

    agent: AutomationAgent
    """What it says of the agent itself, before factory and server."""

    concurrency: Omittable[AutomationConcurrency] = None
    """How runs of the automation stand to each other."""

    schedules: Omittable[list[AutomationSchedulesItem]] = None
    """State of its schedule triggers, in their order; absent when it has none."""

    limits: Omittable[AutomationLimits] = None
    """A run that goes over one of these is ended."""

    network: Omittable[AutomationNetwork] = None
    """What a run may reach beside the model and its repositories."""

    version: int
    """Counts its changes; the `ETag` of the automation."""

    revision: str
    """Revision of the definitions that decided it last: `branch@sha1:…`, `sha256:…`, or `dashboard@…`."""

    file: Optional[str]
    """File of the factory repository that says all this; null on factories that are managed here."""

    created_at: AwareDatetime
    """When it was first made."""

    updated_at: AwareDatetime
    """When it last changed."""

    last_fired_at: Optional[AwareDatetime]
    """When it last started a run; null while it never did."""

    recent_runs: AutomationRecentRuns
    """Runs that it started within the last seven days."""


class Change(ModelBase):
    """One step from what is applied to what the files say. Shows names of members; a plan also shows old and new of each, secrets never."""

    action: Union[Literal["create", "update", "delete"], str]
    """What happens to the object."""

    kind: Union[Literal["factory", "environment", "skill", "webhook", "automation"], str]
    """Kind of object."""

    slug: str
    """Name inside the factory; empty for the factory itself."""

    uid: str
    """Identifier that the object has or will have."""

    path: str
    """File that decides it."""

    changes: list[str]
    """Of an update: members of the definition that differ, as the file spells them; else empty."""

    values: Omittable[list[ChangeValuesItem]] = None
    """Of a plan: old and new of each key of an object that changes, 50 at most. Of prompts and other long texts, how many lines and from which on they differ; `•••` for what may be a secret."""

    renamed_from: Omittable[str] = None
    """Of a create: file of the deleted object with the very same definition."""

    secret_name: Omittable[str] = None
    """Of a pass: the secret whose new version the webhook took over."""

    secret_version: Optional[int] = None
    """That version; null when the secret is gone and the webhook refuses everything."""

    ingress_url: Omittable[str] = None
    """Of a plan: where the webhook is or will be delivered to; `{token}` stands for the secret of a url_token webhook."""

    ingress_url_before: Omittable[str] = None
    """Of a plan: where the webhook is delivered to now, if that changes with its `authMode`."""

    secret: Omittable[ChangeSecret] = None
    """Of a plan: the secret of a webhook that is made, or that changes its `secretName`. Never its value."""

    traffic: Omittable[ChangeTraffic] = None
    """Of a plan: use that was made of the object within the last days, counted by the times that IDs name. Of a webhook: its deliveries and the runs that they started. Of an automation: deliveries to the webhooks that it selects now or will, and its runs. Of an environment or skill: runs of the factory that named it; a skill that is named by its repository is not told. Of the factory: everything."""

    used_by: Omittable[list[ChangeUsedByItem]] = None
    """Of a plan: what names an environment that is deleted, so that its runs will fail: schedules and agent identities of the factory, and automations by its UID. Absent where nothing does."""

    run_secrets: Omittable[list[ChangeRunSecretsItem]] = None
    """Of a plan: secrets of the runs of a factory's defaults, an environment or an automation that comes or changes, and where each of them is."""

    replay: Omittable[ChangeReplay] = None
    """Of a plan: the newest accepted deliveries that are stored, 50 at most, asked again. Of an automation whose triggers or `enabled` change, or that comes or goes: those of all webhooks that it selects, on either side; whether it would start. Of a webhook that is enabled, disabled, made or deleted: its own; whether anything would start."""


class CloudEnvironmentConfig(ModelBase):
    """What an environment file says."""

    name: str
    """Name of the environment."""

    description: Optional[str]
    """What it is for; null when the file does not say."""

    docker_image: Omittable[str] = None
    """Image that runs start from."""

    github_repos: list[CloudEnvironmentConfigGithubReposItem]
    """Repositories that are cloned."""

    setup_commands: list[str]
    """Commands that set it up."""


class CloudEnvironment(ModelBase):
    """An environment that runs can be started in."""

    uid: str
    """What `environment_id` is set to."""

    factory_uid: str
    """Factory whose repository declares it."""

    config: CloudEnvironmentConfig
    last_updated: AwareDatetime
    """When its file last changed here."""

    setup_failed: bool
    """Whether the run of this environment that ended last failed while it was set up."""

    last_task_run_timestamp: Optional[AwareDatetime]
    """When the run of this environment that ended last was created; null when none has."""


class ConversationMessage(ModelBase):
    """One message of a turn."""

    role: Union[Literal["user", "assistant"], str]
    """Who said it."""

    content: list[ConversationMessageContentItem]
    """Pieces of the message."""

    timestamp: AwareDatetime
    """When it was said."""


class ConversationStep(ModelBase):
    """One turn: what was asked of the agent, and what it said."""

    id: str
    """The execution, or the first follow-up that it took later; of what still waits for one, the run or the follow-up."""

    run_id: str
    """Run that the turn belongs to."""

    messages: list[ConversationMessage]
    """In order."""

    steps: list[dict[str, Any]]
    """Work inside this turn; always empty here."""

    started_at: Omittable[AwareDatetime] = None
    """When the agent started; absent while the turn waits."""

    completed_at: Omittable[AwareDatetime] = None
    """When the turn ended; absent until then."""


class Conversation(ModelBase):
    """What was said in a conversation, as far as the key may see its runs."""

    conversation_id: str
    """The conversation; the ID of the run that began it."""

    steps: list[ConversationStep]
    """In order: the runs of the conversation by their creation, the executions of each, the turns of each."""

    page_info: PageInfo


class DeliveryStatistics(ModelBase):
    """Deliveries by outcome over time."""

    since: AwareDatetime
    """Begin of the first bucket."""

    until: AwareDatetime
    """End of the last one."""

    bucket_seconds: int
    """Length of a bucket."""

    buckets: list[DeliveryStatisticsBucketsItem]
    """Oldest first, without gaps."""

    totals: dict[str, int]
    """Deliveries by outcome in all buckets."""

    truncated: bool
    """True where there are more entries than one request may read: then the oldest buckets are incomplete."""


class Delivery(ModelBase):
    """One entry of a webhook's delivery log."""

    entry_id: str
    """UUIDv7 of the entry."""

    delivery_id: str
    """Identity of the delivery, as its sender was answered; of a refused one the first usable delivery header, else the entry's own ID; of one that counts, of the first of them."""

    outcome: Union[Literal["Accepted", "Duplicate", "Rejected (auth)", "Rejected (invalid JSON)", "Rejected (too large)", "Throttled"], str]
    """What became of it; never changes."""

    size: int
    """Bytes of the body."""

    size_exact: bool
    """False where the body was refused before its end: then size is what was declared or counted until then."""

    received_at: AwareDatetime
    """When it came."""

    client_address: str
    """Address of the sender, of IPv6 as it was seen."""

    revision: str
    """Revision of the definitions that it was judged by."""

    count: int
    """Deliveries that this entry stands for: more than one only for refusals beyond 60 a minute, and for those that were throttled (answered 429), of which each minute has one entry."""

    refused_because: Omittable[str] = None
    """Why it was refused; shown to managers only."""

    refusal: Omittable[DeliveryRefusal] = None
    """Of a refused delivery: which check it failed. Never shows a value that was sent. Absent for entries that stand for many."""

    resent_from: Omittable[str] = None
    """The entry whose stored bytes were delivered again, where somebody asked for that."""

    started: Omittable[list[DeliveryStartedItem]] = None
    """Of an accepted delivery: automations that matched, with the runs that they started."""

    skipped: Omittable[list[DeliverySkippedItem]] = None
    """Of an accepted delivery: automations that select the webhook and started nothing."""

    payload_url: Omittable[str] = None
    """Of an accepted delivery: where the exact bytes of the body are, for the same key."""


class Diagnostic(ModelBase):
    """A problem in a definition file, with the place to look at."""

    path: str
    """File, relative to the factory's root."""

    line: int
    """Line, counted from 1."""

    column: int
    """Column, counted from 1 in UTF-16 units."""

    end_line: Omittable[int] = None
    """Line where the place ends."""

    end_column: Omittable[int] = None
    """Column behind its last character."""

    severity: Union[Literal["error", "warning"], str]
    """An error keeps its file from applying; a warning does not."""

    rule: str
    """kebab-case identifier of the rule."""

    code: str
    """Published code of the rule: `FF_…`."""

    message: str
    """What was found, what was expected, and the way out."""

    excerpt: Omittable[DiagnosticExcerpt] = None
    """The lines around the place; long ones are cut, `•••` stands for what could be a secret, and what cannot be printed is written as `\\u{…}`. Absent where the text was not at hand, and beyond the first hundred problems."""


class FactoryDispatchRequest(ModelBase):
    """Starts a run in a factory. Members that are not served are ignored, and named in the answer."""

    prompt: str
    """What the agent has to do."""

    title: Omittable[str] = None
    """Title; by default the first line of the prompt."""

    config: Omittable[AmbientAgentConfig] = None
    """What the run says about its agent; everything else comes from the factory and the server."""

    metadata: Omittable[dict[str, str]] = None
    """Up to 20 entries of the caller's own: keys of 1 to 64 of A–Z a–z 0–9 . _ -, values of at most 256 bytes."""

    attachments: Omittable[list[Attachment]] = None
    """Files for the agent."""

    ticket_ref: Omittable[str] = None
    """Reference of the ticket that the run is about; at most 256 bytes, kept as metadata."""

    ticket_url: Omittable[str] = None
    """Address of the ticket; at most 256 bytes, kept as metadata and as the run's trigger_url."""


class Error(ModelBase):
    """Why a request was not served: a problem (RFC 9457). Some problems have further members that say how to go on; the operation names them."""

    type: str
    """Names the kind of problem as a URL: {public}/errors/ and `error` in kebab case."""

    title: str
    """The kind of problem in words; the same for every problem of a kind."""

    status: int
    """The status of the answer."""

    error: Union[Literal["invalid_request", "authentication_required", "not_authorized", "feature_not_available", "budget_exceeded", "resource_not_found", "conflict", "operation_not_supported", "resource_unavailable", "environment_setup_failed", "internal_error"], str]
    """The kind of problem for programs."""

    detail: str
    """What is wrong with this request, in words."""

    instance: str
    """Path of the request; empty where it is not repeated."""

    retryable: bool
    """Whether the same request can succeed later."""

    trace_id: str
    """Names the request in the log of the service; also in the header X-Request-Id."""

    errors: list[ErrorErrorsItem]
    """Each offending member; empty where the request as a whole is refused."""


class ExplainedAutomation(ModelBase):
    """An automation in an explanation: what it did and why, and whether it is still the same."""

    uid: str
    """Its UID."""

    slug: str
    """Permanent name inside the factory."""

    file: Optional[str]
    """File that defines it; null where it is managed over the API."""

    standing: Union[Literal["unchanged", "changed", "deleted"], str]
    """What became of it since."""

    revision: str
    """Revision that wrote it last, or deleted it."""

    changed_at: Optional[AwareDatetime]
    """When it was changed last, or deleted; null where it is unchanged."""

    result: Union[Literal["fired", "disabled", "not-selected", "filter", "filter-unreadable", "filter-budget", "busy"], str]
    """`fired`: it started a run. `disabled`. `not-selected`: none of its triggers names the webhook. `filter`: its filter does not match. `filter-unreadable`: its stored filter cannot be used. `filter-budget`: the filters before its own took all the time that there is for one delivery. `busy`: another run of its concurrency group was open."""

    run_id: Omittable[str] = None
    """The run that it started."""

    failed_pointer: Omittable[str] = None
    """First key of its filter that failed."""

    operator: Omittable[Union[Literal["in", "not_in", "exists", "nested"], str]] = None
    """What that key asks for."""

    trigger: Optional[ExplainedTrigger]
    """The trigger that decided; null where none did, or where it cannot be told any more."""


class ExplainedRun(ModelBase):
    """A run in an explanation: who or what started it."""

    run_id: str
    """UUIDv7 of the run."""

    title: str
    """Its title."""

    state: RunState
    source: RunSourceType
    created_at: AwareDatetime
    """When it was made."""

    creator: RunCreatorInfo
    delivery_id: Optional[str]
    """Identity of the delivery that started it."""

    schedule: Optional[RunSchedule]
    """The schedule that started it."""

    scheduled_at: Optional[AwareDatetime]
    """The tick of the schedule that started it."""


class Explanation(ModelBase):
    """What decided a delivery or a run."""

    id: str
    """What was asked about."""

    kind: Union[Literal["delivery", "run"], str]
    """What it is."""

    factory_uid: Optional[str]
    """Its factory; null for a run of none."""

    factory_slug: Optional[str]
    """Permanent name of the factory; null for none, and for one that was deleted."""

    revision: Optional[str]
    """Revision of the definitions that decided; null where none did."""

    delivery: Optional[ExplainedDelivery]
    """The delivery; of a run the one that started it, while the log has it."""

    webhook: Optional[ExplainedDefinition]
    """The webhook that the delivery came to."""

    automations: list[ExplainedAutomation]
    """Automations that were there when it was decided, those that fired first. Empty where none was asked: a refused delivery, a duplicate, a run that somebody started."""

    automations_left_out: int
    """Further automations that do not select the webhook."""

    pull_requests: list[MergedPullRequest]
    """Pull requests that brought the revisions that are named here: `revision`, and those that wrote the webhook and the automations that were asked. Several of one revision were merged between two syncs."""

    run: Optional[ExplainedRun]
    """The run that was asked about."""


class FactoryAgentDefaults(ModelBase):
    """What a factory's own file says of the agents of its runs; the members that published clients ask for are there in any case."""

    model_id: Omittable[str] = None
    """Language model."""

    base_prompt: Omittable[str] = None
    """Shapes the agent's behaviour."""

    environment_id: Omittable[str] = None
    """Environment: its UID, or the name of one of the factory's."""

    skill_spec: Omittable[str] = None
    """Skill used as the base prompt: owner/repo:skill-name, owner/repo:path/to/SKILL.md, or the name of a skill of the factory."""

    mcp_servers: dict[str, MCPServerConfig]
    """MCP servers by name; a level's servers replace those of the levels below it."""

    harness: Omittable[AgentHarness] = None
    """Program that drives the agent."""

    idle_timeout_minutes: Omittable[int] = None
    """Minutes that an interactive run waits for the answer to what its agent asks permission for, before that is refused; 0: it does not wait; 10 unless said."""

    secrets: list[FactoryAgentDefaultsSecretsItem]
    """Managed secrets of its runs."""

    worker_host: Union[Literal[""], str]
    """Always empty: a run asks for its machine itself."""

    default_runner_uid: Union[Literal[""], str]
    """Always empty: there are no runners here."""


class FactoryEventList(ModelBase):
    """A page of a factory's events, newest first. The newest 1,000 are kept."""

    events: list[FactoryEvent]
    """The events of this page."""

    page_info: PageInfo


class FactoryFilesValidateRequest(ModelBase):
    """A tree of definition files, to be checked without a factory."""

    files: list[TreeFile]
    """The whole tree: what is left out counts as deleted. At most 2,000 files; without a key 256 of 256 KiB each and 2 MiB together. With a key 64 MiB of text together: a request body of more than 3 MiB says its length (Content-Length). Files that are no definitions are ignored."""

    secrets: Omittable[list[str]] = None
    """Names of the secrets that exist, for webhooks and runs alike; without them no name is checked."""


class FactoryFilesValidateResult(ModelBase):
    """What the command line's `validate` says of the same files."""

    valid: bool
    """Whether no diagnostic is an error."""

    schema_version: str
    """Version of the hosted format that the files were read by, whatever they declare."""

    diagnostics: list[Diagnostic]
    """Errors in reading order: empty where it is valid. With the warnings at most 1,000 and one that says that there are more."""

    state_dependent_checks_not_run: list[Union[Literal["secrets", "secret-values", "quota", "uids", "environments"], str]]
    """Checks that need to know a factory; a plan runs them."""

    warnings: list[Diagnostic]
    """Problems that keep nothing from applying, in reading order."""

    deferred_resolutions: list[FactoryFilesValidateResultDeferredResolutionsItem]
    """Names that only a factory can resolve, and that nobody has looked up here."""

    validation_scope: FactoryFilesValidateResultValidationScope
    """What was checked."""


class FederatedCredential(ModelBase):
    """Whose tokens are exchanged for keys that last ten minutes, and what those keys may do."""

    id: str
    """Its identifier."""

    name: str
    """What it is for, in its maker's words."""

    issuer: str
    """The issuer as its tokens name it."""

    audience: str
    """Whom a token has to be made for."""

    claims: dict[str, list[str]]
    """What a token has to say: each claim with the values that are allowed for it."""

    role: Union[Literal["viewer", "operator", "manager"], str]
    """What its keys may do."""

    factories: Optional[list[str]]
    """UIDs of the only factories that its keys may see; null: all of them, also later ones."""

    principal: Principal
    created_at: AwareDatetime
    """When it was made."""

    created_by: Optional[str]
    """UID of the principal that made it."""

    updated_at: AwareDatetime
    """When it was last changed."""

    last_used_at: Optional[AwareDatetime]
    """When a token was last exchanged by it; null: never."""


class FilterReplayResult(ModelBase):
    """What the newest accepted deliveries say of a trigger. Never shows a value of a payload."""

    deliveries: list[FilterReplayResultDeliveriesItem]
    """Newest first."""

    would_trigger: int
    """How many would trigger."""

    would_not_trigger: int
    """How many would not."""

    undecided: int
    """How many nobody knows of."""


class FilterTestResult(ModelBase):
    """Whether the automation would start, and which of the two checks decided. Never shows a value of the payload."""

    result: Union[Literal["Would trigger", "Would not trigger"], str]
    """Both checks have to pass."""

    webhook_check: FilterTestResultWebhookCheck
    """Whether the trigger selects the webhook. Passes where no webhook_uids are given."""

    payload_check: FilterTestResultPayloadCheck
    """Whether the payload satisfies the filter."""


class HandoffAttachmentList(ModelBase):
    """Files that an ended run has left for whoever goes on."""

    attachments: list[HandoffAttachmentListAttachmentsItem]
    """Its latest hundred artifacts that are files, oldest first; none of a run that has not ended."""


class ModelList(ModelBase):
    """The models that are known here, and what drives them."""

    models: list[Model]
    """By their IDs."""

    harnesses: Omittable[list[str]] = None
    """What `harness.type` can name; absent where the operator has profiles of its own."""

    availability: Omittable[ModelListAvailability] = None
    """Which of them are to be had on the machine where runs are worked on; absent where this process works on none."""

    default_model_id: str
    """Model of a run that names none; `auto` where its harness chooses."""


class PermissionItem(ModelBase):
    """Something that an agent asks permission for."""

    permission_id: str
    """UUIDv7 of the request."""

    run_id: str
    """The run."""

    execution_id: str
    """The execution whose agent asks."""

    state: Union[Literal["open", "answered", "closed"], str]
    """open: the agent waits for an answer. answered: it has one. closed: nobody waits any more, because the run was cancelled, the agent has gone on or its execution is over."""

    asked_at: AwareDatetime
    """When it was asked."""

    title: str
    """What the agent wants to do, for people."""

    tool_kind: Omittable[str] = None
    """Kind of tool: read, edit, execute, search and the like."""

    input: Omittable[str] = None
    """What the tool would be given, as JSON text; the middle of more than 4,096 characters is left out."""

    paths: Omittable[list[str]] = None
    """Files that it concerns."""

    options: list[PermissionOption]
    """Answers that the agent offers."""

    settled_at: Optional[AwareDatetime]
    """When it was answered or closed; null while it is open."""

    answer: Optional[str]
    """The option that was chosen; null where none was."""

    answered_by: Optional[str]
    """UID of who answered; null where the service did."""


class PermissionList(ModelBase):
    """What the agents of a run have asked permission for."""

    permissions: list[PermissionItem]
    """Oldest first; of more than 200 the latest."""


class PlanRequest(ModelBase):
    """A tree of definition files, or a ref of the repository that the factory follows: one of both."""

    files: Omittable[list[TreeFile]] = None
    """The whole tree: what is left out counts as deleted. At most 2,000 files and 64 MiB of text together: a request body of more than 1 MiB says its length (Content-Length). Files that are no definitions are ignored."""

    ref: Omittable[str] = None
    """A branch or a tag (`main`, `refs/heads/main`, `refs/tags/v1`), a whole commit ID, `HEAD`, or a pull request (`pull/12`, `merge-requests/12`) of the repository that the factory follows. The service fetches it with the credential and within the bounds of a sync; nothing of it is applied. Pull requests are judged without what is known of secrets."""


class Plan(ModelBase):
    """What a pass over a tree, or over a ref of the followed repository, would do now. Nothing is written."""

    factory_uid: str
    """The factory."""

    revision: str
    """`sha256:…` of the files: what a directory with exactly these files has as its revision. Of a ref: `branch@sha1:…` as a sync of that branch has it, another ref with its full name before the `@`, a commit alone as `sha1:…`."""

    ref: Omittable[PlanRef] = None
    """Of a ref: what was read."""

    not_run: Optional[list[Union[Literal["secrets", "secret-values", "secret-changes", "quota", "uids", "environments"], str]]] = (
        None
    )
    """Of a pull request: what was not looked at, because its definitions are anybody's and secrets are the factory's own. `secrets`: whether the secrets that are named exist; `secret-values`: whether they are set and usable; `secret-changes`: versions and fingerprints."""

    valid: bool
    """Whether no problem is an error."""

    ending: Union[Literal["applied", "blocked"], str]
    """How a pass over these files would end, once the sync windows let it apply. `applied`: the files become what serves. `blocked`: people must act."""

    reason: Optional[str]
    """kebab-case word for programs; null for `applied`."""

    message: Optional[str]
    """Sentence for people. For `applied` it is null, unless the sync windows are closed now: then it says when they open."""

    problems: list[Diagnostic]
    """Problems in the files, in reading order."""

    advice: Omittable[list[PlanAdviceItem]] = None
    """What the files had better say, and do not: no problem, and nothing is kept from applying."""

    changes: list[Change]
    """What would be applied, in order: now, or where the ending is `blocked` for held deletions, once these are approved. Empty where errors block the whole tree."""

    growth: Omittable[list[PlanGrowthItem]] = None
    """What runs could do once this applies, and cannot do now, by automation."""

    held: list[Change]
    """Deletions that would be held back."""

    plan: Optional[str]
    """Digest that an approval of the held deletions, or of what grows, names, where the factory follows a directory, or the ref is the branch that it follows; null where none is needed, and otherwise, because a commit of these files on that branch has a digest of its own. It can be approved once a sync holds it."""

    summary: PlanSummary
    """Number of changes by action, and of held deletions."""


class PullRequestList(ModelBase):
    """A page of a factory's open pull requests, highest number first."""

    pull_requests: list[PullRequest]
    """The pull requests of this page."""

    forge: Optional[ForgeStatus]
    """Null: the source names none."""

    page_info: PageInfo


class RunAgentRequest(ModelBase):
    """Creates a run. Members that are not served are ignored, and named in the answer."""

    prompt: Omittable[str] = None
    """What the agent has to do; required unless a skill is named, or a conversation to go on with."""

    title: Omittable[str] = None
    """Title; by default the first line of the prompt."""

    config: Omittable[AmbientAgentConfig] = None
    """What the run says about its agent; everything else comes from the factory and the server."""

    skill: Omittable[str] = None
    """Skill used as the base prompt: owner/repo:skill-name, owner/repo:path/to/SKILL.md, or the name of a skill of the factory; wins over config.skill_spec."""

    conversation_id: Omittable[str] = None
    """Conversation that the run continues; by default its own, under its own ID."""

    parent_run_id: Omittable[str] = None
    """Run that this one was started by."""

    metadata: Omittable[dict[str, str]] = None
    """Up to 20 entries of the caller's own: keys of 1 to 64 of A–Z a–z 0–9 . _ -, values of at most 256 bytes."""

    attachments: Omittable[list[Attachment]] = None
    """Files for the agent; at most 5 together with images."""

    images: Omittable[list[ImageAttachment]] = None
    """Images for the agent, the older form of attachments."""

    mode: Omittable[RunMode] = None
    interactive: Omittable[bool] = None
    """Whether somebody will watch and answer: what the agent asks permission for is then put to people while the run is BLOCKED, instead of being allowed. Handed to a command in the variable MILLWRIGHT_INTERACTIVE."""

    factory_uid: Omittable[str] = None
    """Factory whose defaults and rights apply; required for a key that is limited to factories."""

    team: Omittable[bool] = None
    """Whether the run is the team's. Every run is the installation's: false is ignored."""

    agent_identity_uid: Optional[str] = None
    """Agent identity whose settings hold where the run says nothing, before those of its factory."""

    on_behalf_of: Optional[Any] = None
    """Not supported here: answered with 422."""


class RunEvent(ModelBase):
    """One entry of a run's log."""

    seq: int
    """Place in the log of the run, from 1 on without gaps."""

    event_type: str
    """stdout, stderr: what a command wrote. message, thought: what an agent said, and what it said to itself. tool_call, tool_call_update: what it did. plan, usage: what it means to do, and what it has used. permission: what it asks permission for, and what came of that. status: what became of the run."""

    occurred_at: AwareDatetime
    """When it was written."""

    run_id: str
    """The run."""

    execution_id: Omittable[str] = None
    """Execution that it belongs to; absent where there was none."""

    payload: RunEventPayload
    """stdout, stderr, message, thought: text. status: text, or state and message. tool_call, tool_call_update, plan, usage, permission: their members."""


class RunItem(ModelBase):
    """A run with everything that is known of it."""

    run_id: str
    """UUIDv7 of the run."""

    task_id: str
    """The same as run_id."""

    title: str
    """Title for people."""

    state: RunState
    prompt: str
    """What the run was created with; never changes. Webhook runs: the automation's text and the envelope."""

    submitted_prompt: str
    """The prompt with the follow-ups that were joined to it before it was taken."""

    created_at: AwareDatetime
    """When it was created."""

    updated_at: AwareDatetime
    """When it last changed."""

    started_at: Optional[AwareDatetime]
    """When an agent first began to work on it; null until then."""

    finished_at: Optional[AwareDatetime]
    """When it last ended; null until then."""

    source: RunSourceType
    creator: RunCreatorInfo
    """Who created it; of webhook and schedule runs the factory's service account."""

    executor: RunCreatorInfo
    """Who works on it."""

    agent_config: AmbientAgentConfig
    """The resolved configuration."""

    mode: RunMode
    interactive: bool
    """Whether somebody was said to watch and answer."""

    status_message: Omittable[RunStatusMessage] = None
    session_id: Omittable[str] = None
    """Session of the agent; from CLAIMED on."""

    session_link: Omittable[str] = None
    """Page of the session; from CLAIMED on."""

    agent_skill: Omittable[RunSkill] = None
    conversation_id: Omittable[str] = None
    """Conversation that it belongs to; its own ID unless it continues another's. Absent where the key may not see the run that began it."""

    parent_run_id: Omittable[str] = None
    """Run that it was started by. Absent where the key may not see it."""

    root_run_id: str
    """The run at the top of those that it was started by, as far as the key may see them; the run itself where nothing did."""

    artifacts: Omittable[list[ArtifactItem]] = None
    """What it has made, oldest first; the latest 100."""

    metadata: dict[str, str]
    """The caller's entries, and automation_id, webhook_uid, delivery_id and definition_revision of runs that have them."""

    factory_uid: Omittable[str] = None
    """Factory that it belongs to."""

    automation_id: Omittable[str] = None
    """Automation that started it."""

    schedule: Omittable[RunSchedule] = None
    run_time: Omittable[str] = None
    """Time from the first start to the last end, or until the last change, as an ISO 8601 duration; from the first start on."""

    request_usage: Omittable[RequestUsage] = None
    is_sandbox_running: bool
    """Whether a command of the run is at work now."""

    is_run_type_cancellable: bool
    """Whether runs of its kind can be cancelled, whatever its state; true for every run here."""

    execution_location: Union[Literal["REMOTE"], str]
    """Where it runs: on a server."""

    trigger_url: Omittable[str] = None
    """Address of what it is about: the ticket of a dispatch."""


class RunStatistics(ModelBase):
    """Runs by state and their start latency over time."""

    since: AwareDatetime
    """Begin of the first bucket."""

    until: AwareDatetime
    """End of the last one."""

    bucket_seconds: int
    """Length of a bucket."""

    buckets: list[RunStatisticsBucketsItem]
    """Oldest first, without gaps; a run belongs to the bucket in which it was created."""

    totals: dict[str, int]
    """Runs by state in all buckets."""

    start_latency: RunStatisticsStartLatency
    """The same over all buckets."""

    truncated: bool
    """True where there are more runs than one request may read: then the oldest buckets are incomplete."""


class RunTimeline(ModelBase):
    """What happened to a run, oldest first."""

    events: list[TimelineEvent]
    """Oldest first; of a run with more than 1,000 executions or 1,000 follow-ups the latest of each."""


class ScheduleCreate(ModelBase):
    """Makes a schedule. Members that are not served here are ignored, and named in the answer."""

    name: str
    """Name for people."""

    cron_schedule: str
    """When it fires: five cron fields in UTC, an @ word, or @every with a duration."""

    prompt: Omittable[str] = None
    """What its runs are asked; required unless agent_config names a skill."""

    enabled: Omittable[bool] = None
    """Whether it fires from now on; true unless said."""

    agent_config: Omittable[AmbientAgentConfig] = None
    """What its runs say about their agent; everything else comes from the agent identity, the factory and the server."""

    metadata: Omittable[dict[str, str]] = None
    """Metadata of its runs, as of POST /agent/runs."""

    mode: Omittable[RunMode] = None
    """How its runs are asked to work; normal unless said."""

    factory_uid: Omittable[str] = None
    """Factory whose defaults and environments its runs have; required for a key that is limited to factories. It does not change later."""

    team: Omittable[bool] = None
    """Schedules belong to everybody who may see their factory: false is ignored."""

    agent_uid: Optional[str] = None
    """Agent identity whose defaults its runs have, below agent_config and above its factory's."""


class ScheduleItem(ModelBase):
    """What starts runs by the clock: a schedule of its own, or a schedule trigger of an automation, which is changed where the automation is."""

    id: str
    """Identifier of the schedule. Of a trigger another name or expression makes another one."""

    name: str
    """Its name, else the name of its automation."""

    cron_schedule: str
    """Its expression."""

    enabled: bool
    """Whether it fires: it was not paused, or its automation is enabled."""

    prompt: str
    """What its runs are asked."""

    agent_config: AmbientAgentConfig
    """What it, or its automation, says of the agent."""

    metadata: dict[str, str]
    """Metadata of its runs. Of a trigger: factory_uid, automation_id, and file where a file says it."""

    created_at: AwareDatetime
    """When it, or its automation, was made."""

    updated_at: AwareDatetime
    """When it, or its automation, last changed."""

    history: ScheduleItemHistory
    """When it started a run, and when it does next."""

    mode: RunMode
    """How its runs are asked to work."""

    read_only: bool
    """true: it is a schedule trigger of an automation, and changed there."""

    factory_uid: Omittable[str] = None
    """Its factory; absent: it belongs to none."""

    created_by: Omittable[RunCreatorInfo] = None
    """Who made it; absent for triggers."""

    updated_by: Omittable[RunCreatorInfo] = None
    """Who changed it last; absent for triggers."""

    agent_uid: Omittable[str] = None
    """Agent identity whose defaults its runs have; absent: none."""

    ignored: Omittable[list[str]] = None
    """JSON pointers of the members of the requests that made it and that are not served here and were ignored, a hundred at most; absent where none were. The logs of its runs name them, too."""


class ScheduleList(ModelBase):
    """The schedules that the key may see."""

    schedules: list[ScheduleItem]
    """By name: schedules of their own, at most 1,000, and the schedule triggers of at most 1,000 automations."""


class ScheduleUpdate(ModelBase):
    """Changes a schedule. What may be absent and is stays as it is; what is given replaces what was. Members that are not served here are ignored, and named in the answer."""

    name: str
    """Name for people."""

    cron_schedule: str
    """When it fires: five cron fields in UTC, an @ word, or @every with a duration. Another one counts from now."""

    enabled: bool
    """Whether it fires."""

    prompt: Omittable[str] = None
    """What its runs are asked."""

    agent_config: Omittable[AmbientAgentConfig] = None
    """What its runs say about their agent, in place of all that was said before."""

    metadata: Omittable[dict[str, str]] = None
    """Metadata of its runs, in place of what was."""

    mode: Omittable[RunMode] = None
    """How its runs are asked to work."""

    agent_uid: Optional[str] = None
    """Agent identity whose defaults its runs have, below agent_config and above its factory's. null: none."""


class SchemaDocumentList(ModelBase):
    """The JSON Schemas of the definition files."""

    schema_version: str
    """Version of the definition files' format."""

    schemas: list[SchemaDocumentListSchemasItem]
    """Every document."""

    current_version: str
    """Version of the hosted format that the documents describe."""

    versions: list[SchemaDocumentListVersionsItem]
    """The versions that are served: one."""


class SecretPut(ModelBase):
    """Sets a managed secret's value, its grants, or both. With neither it is declared: it exists and authenticates nobody."""

    value: Omittable[str] = None
    """The exact text of the secret, Unicode of at most 65536 characters; never shown again."""

    grants: Omittable[SecretPutGrants] = None
    """Who may use it for what; what is not named stays as it is. By default all factories, for webhooks."""


class Secret(ModelBase):
    """A managed secret without its value, which nobody can see again."""

    name: str
    """Name by which definitions refer to it."""

    owner: str
    """`team`, or the UID of the factory that it belongs to."""

    grants: SecretGrants
    """Who may use it for what; to everybody else it does not exist."""

    version: int
    """How often its value was set; 0 while it was only declared."""

    set: bool
    """Whether it has a value."""

    url_safe: bool
    """Whether its value may serve in `url_token` mode."""

    updated_at: AwareDatetime
    """When value or grants last changed."""

    used_by: list[SecretUser]
    """What would break without it."""


class Session(ModelBase):
    """Who is signed in, and what requests of this session have to carry."""

    key: ApiKey
    """The API key that the session was opened with; the session may do what the key may, as long as it may."""

    csrf_token: str
    """Every request of the session that changes something carries it in the header `X-CSRF-Token`."""

    expires_at: AwareDatetime
    """When one has to sign in again."""


class SignatureSchemeList(ModelBase):
    """Signature schemes that webhooks may name, and known ones that they may not."""

    signature_schemes: list[SignatureScheme]
    """Schemes that are served."""

    unavailable: list[SignatureSchemeListUnavailableItem]
    """Known schemes that are not served."""


class SyncPolicy(ModelBase):
    """What is asked of commits before they may apply, and when they may. It stands here and not in the repository, so that who may commit may not decide it. Empty: nothing is asked."""

    verify_commits: Omittable[SyncPolicyVerifyCommits] = None
    """Only a tip that one of these keys signed may apply; what was verified last serves on. Git sources only."""

    fast_forward_only: Omittable[bool] = None
    """Whether a tip that does not descend from the one before waits for an approval. Without it such a tip applies, and the condition HistoryRewritten says so. Git sources only."""

    growth_approval: Omittable[Union[Literal["manager", "admin"], str]] = None
    """Who has to approve a revision with which runs could do more than before: read what wider circles write, have a new secret, host, repository, tool or effect, or more budget. Without it such a revision applies, and plans show what grows."""

    windows: Omittable[list[SyncPolicyWindowsItem]] = None
    """When definitions may apply, in UTC; secrets are always taken over. Inside of a `deny` window nothing applies; with `allow` windows, nothing applies outside of all of them."""


class Sync(ModelBase):
    """One pass that brought something new."""

    id: str
    """UUIDv7 of the pass."""

    triggers: list[Union[Literal["start", "timer", "watcher", "api", "secret", "push", "approval"], str]]
    """What asked for it."""

    started_at: AwareDatetime
    """When it began."""

    finished_at: AwareDatetime
    """When it ended."""

    ending: Union[Literal["applied", "blocked", "failed"], str]
    """`applied`: the tree is what serves. `blocked`: people must act. `failed`: tried again by itself."""

    reason: Optional[str]
    """kebab-case word for programs; null for `applied`."""

    message: Optional[str]
    """Sentence for people; null for `applied`."""

    revision: Optional[str]
    """Revision that was looked at: `branch@sha1:…`, or `sha256:…` of a directory's files; null when none could be read."""

    problems: list[Diagnostic]
    """Problems in the files, in reading order; at most 500."""

    changes: list[Change]
    """What was applied, in order."""

    held: list[Change]
    """Deletions that were held back."""

    plan: Optional[str]
    """Digest that an approval of the held deletions, or of the rewritten history, names; null where none is needed."""

    timings: dict[str, float]
    """Milliseconds by step; `total_ms` is the whole pass."""

    rewritten_from: Optional[str]
    """Revision that the branch held before, where its history was rewritten; else null."""

    superseded: int
    """Commits that came between the revision before and this one, and never applied by themselves."""


class WebhookCreated(Webhook):
    """A new webhook, with what is shown this once."""

    secret: Omittable[str] = None
    """The generated secret, which is shown in this answer only. Absent when it was supplied, or existed before."""

    url: Omittable[str] = None
    """The full URL of a `url_token` webhook, its secret included: treat it as a secret. Absent when the secret existed before."""


class WebhookList(ModelBase):
    """Webhooks of a factory by slug."""

    webhooks: list[Webhook]
    """At most 20."""


class WebhookRotated(Webhook):
    """The webhook with its new secret in use, and every webhook that shares the secret."""

    secret: Omittable[str] = None
    """The generated secret, which is shown in this answer only. Absent when it was supplied."""

    url: Omittable[str] = None
    """The full URL of a `url_token` webhook, its new secret included: treat it as a secret."""

    rotated: list[RotatedWebhook]
    """Webhooks that use the new secret from now on, this one included."""


class AgentIdentityList(ModelBase):
    """Agent identities."""

    agents: list[AgentIdentity]
    """Those that the key may see, in the order in which they were made."""


class AgentListResponse(ModelBase):
    """Skills of the factories that the key may see."""

    agents: list[AgentSkill]
    """In the order that was asked for; at most 1,000 variants."""


class ApiKeyCreated(ApiKey):
    """A new API key with its text: the only answer that ever shows it."""

    key: str
    """The key itself, for `Authorization: Bearer`. Store it now."""


class ApiKeyList(ModelBase):
    """A page of API keys, newest first."""

    api_keys: list[ApiKey]
    """The keys of this page."""

    page_info: PageInfo


class AutomationList(ModelBase):
    """A page of a factory’s automations by slug."""

    automations: list[Automation]
    """The page."""

    page_info: PageInfo
    """Whether there are more."""


class CloudEnvironmentList(ModelBase):
    """Environments of the factories that the key may see."""

    environments: list[CloudEnvironment]
    """By their names; at most 1,000."""


class DeliveryList(ModelBase):
    """A page of a webhook's delivery log, newest first."""

    deliveries: list[Delivery]
    """The entries of this page."""

    page_info: PageInfo


class FactoryCreate(ModelBase):
    """Makes a factory. Unknown members are refused."""

    slug: str
    """Permanent name, unique among the factories; every UID of the factory follows from it."""

    name: Omittable[str] = None
    """Label for people; by default the slug."""

    source: FactorySource
    sync_policy: Omittable[SyncPolicy] = None
    """What is asked of commits before they may apply; by default nothing."""


class FactoryPatch(ModelBase):
    """Changes a factory's label, its source, or both; what is absent stays. Unknown members are refused."""

    name: Omittable[str] = None
    """Label for people. The factory's own file decides it where that names one: then this is answered with 409."""

    source: Omittable[FactorySource] = None
    """The whole new source; members that it leaves out are gone. UIDs and ingress URLs stay."""

    sync_policy: Omittable[SyncPolicy] = None
    """The whole new policy; members that it leaves out are gone."""


class FactoryStatus(ModelBase):
    """Where a factory stands."""

    factory_uid: str
    """The factory."""

    suspended: bool
    """Whether reconciling is stopped."""

    definitions_managed: bool
    """Whether files decide its definitions."""

    conditions: list[Condition]
    """Every condition, in a fixed order."""

    condition: FactoryStatusCondition
    """How the last pass ended."""

    generation_requested: int
    """Rises with every request for a pass."""

    generation_handled: int
    """The request that the last pass answered; equal to generation_requested when nothing waits."""

    revision_seen: Optional[str]
    """Revision that was advertised last, whether it may apply or not."""

    revision_attempted: Optional[str]
    """Revision that was last judged. One that is not verified, or whose rewritten history waits for an approval, is not judged."""

    revision_applied: Optional[str]
    """Revision that serves."""

    last_sync: Optional[Sync]
    """The last pass that brought something new; null before there was one."""

    held_sync: Optional[Sync]
    """The pass that found what waits for an approval now; its `plan` is what `approve` takes. It stays while the files cannot be read. Null when nothing waits."""

    recent_syncs: list[FactoryStatusRecentSyncsItem]
    """The newest passes that brought something new, newest first; at most 5."""

    events: list[FactoryEvent]
    """The newest events, newest first; at most 10."""

    inventory: list[InventoryItem]
    """What is applied, by kind and name."""


class Factory(ModelBase):
    """A managed group of agent capacity: webhooks, automations, environments and skills under one name."""

    uid: str
    """Stable identifier: `fac_` and 26 characters."""

    slug: str
    """Permanent name."""

    name: str
    """Label for people."""

    description: str
    """What the factory's own file says of it; may be empty."""

    created_at: AwareDatetime
    """When it was made."""

    updated_at: AwareDatetime
    """When it was last changed, by somebody or by a pass that applied something."""

    source: FactorySource
    suspended: bool
    """Whether reconciling is stopped; webhooks and automations serve on."""

    definitions_managed: bool
    """Whether files decide its webhooks and automations, so that they are read-only here; false for a source of kind `dashboard`."""

    service_account: str
    """UID of the principal that creates the runs of its webhooks and schedules: what the list of runs filters as `creator`."""

    agent_defaults: FactoryAgentDefaults
    """What runs of the factory take from it where they say nothing themselves."""

    sync_policy: SyncPolicy
    """What is asked of commits before they may apply; empty where nothing is."""

    alias: str
    """The same as slug."""

    code_forge: Union[Literal["NONE"], str]
    """Always NONE: no code forge is connected; its webhooks are files."""

    code_forges: list[Union[Literal["NONE"], str]]
    """Always empty."""

    credential_strategy: Union[Literal["CREATOR"], str]
    """Always CREATOR: runs have the secrets that files name, whoever asks."""

    repositories: list[FactoryRepositoriesItem]
    """Repository that its definitions come from, where its address names one."""

    scorer_defaults: dict[str, Any]
    """Always empty: no run is scored."""

    scoring: dict[str, Any]
    """Always empty: no run is scored."""

    team_uid: Union[Literal["team"], str]
    """Team that it belongs to: the installation has one."""


class FederatedCredentialList(ModelBase):
    """Federated credentials, newest first."""

    federated_credentials: list[FederatedCredential]
    """All of them: there are a hundred at most."""


class ListRunsResponse(ModelBase):
    """One page of a list of runs."""

    runs: list[RunItem]
    """The runs, in the order of the list."""

    page_info: PageInfo


class ListTasksResponse(ModelBase):
    """One page of a list of runs under their older name."""

    tasks: list[RunItem]
    """The runs, in the order of the list."""

    page_info: PageInfo


class RevisionStatus(ModelBase):
    """What became of one revision: whether it, or one that holds it, serves."""

    revision: str
    """The revision: the whole commit ID, or `sha256:…` of a directory's files; as it was asked for where it is unknown."""

    state: Union[Literal["serving", "waiting", "blocked", "failed", "superseded", "lost", "unknown"], str]
    """`serving`: it or a descendant is applied, and every replica that lives has loaded it. `waiting`: it is on its way: a replica has not loaded it, a sync window is closed, reconciling is suspended. `blocked`: people must act. `failed`: the service could not apply it and tries again. `superseded`: newer commits came before it was applied, and none of them serves yet. `lost`: it is no longer part of the branch. `unknown`: no pass has seen it yet."""

    message: str
    """Sentence for people."""

    serving_revision: Optional[str]
    """Revision that is applied; null before the first one."""

    replicas: list[RevisionStatusReplicasItem]
    """Processes that take deliveries and were heard of in the last 15 seconds."""

    sync: Optional[Sync]
    """The pass that judged it, with its problems; null where none has."""

    pull_requests: Optional[list[MergedPullRequest]]
    """Pull requests that brought it: the one that it is the head or the merge of, else all that were merged between the tip before it and the one that brought it, at most 20. Empty: none is known. Null: the forge has not been asked since it came."""


class RunEventList(ModelBase):
    """Entries of a run's log in order."""

    events: list[RunEvent]
    """In order; an empty list when there is nothing new."""


class SecretList(ModelBase):
    """A page of managed secrets in order of their names."""

    secrets: list[Secret]
    """The secrets of this page."""

    page_info: PageInfo


class SyncList(ModelBase):
    """A page of a factory's passes, newest first. Passes that say a lot make shorter pages."""

    syncs: list[Sync]
    """The passes of this page."""

    page_info: PageInfo


class FactoryList(ModelBase):
    """A page of the factories that the key may see, in order of their UIDs."""

    factories: list[Factory]
    """The factories of this page."""

    page_info: PageInfo
