"""What the service takes: bodies (`…Param`) and queries (`…Params`), for `**` and for annotations.

Generated from the API document by scripts/generate.py; do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Optional, Union

from millwright.types._texts import RunModeParam, RunSourceTypeParam, RunStateParam
from typing_extensions import NotRequired, TypedDict


class AgentHarnessParam(TypedDict):
    """The program that drives the agent."""

    type: NotRequired[str]
    """Kind of harness; `command` is the operator's command."""

    model_id: NotRequired[str]
    """Model of the harness."""

    reasoning_level: NotRequired[str]
    """Reasoning level."""


class ApiKeyPatchParam(TypedDict):
    """Changes the label or the end of an API key that is in use; nothing else of a key can be changed, and a member that names something else is refused."""

    name: NotRequired[str]
    """What it is for."""

    expires_at: NotRequired[Optional[Union[datetime, str]]]
    """From when on it is refused, in the future; null: never."""


class ApiKeyRotateParam(TypedDict):
    """Replaces an API key by another one."""

    overlap_seconds: NotRequired[int]
    """How long the key of before lets its holder in beside the new one, at most until its own end; 0: not at all."""


class AttachmentParam(TypedDict):
    """A file of a request; the execution that takes the request finds it in the folder `attachments` of its workspace."""

    file_name: str
    """Name in the workspace: 1 to 128 letters, digits, blanks and . _ - ( ) [ ] + , = @ & # % ~, 240 bytes at most, no leading dot or blank, unique in the request, not prompt.md or event-payload.json. A later file of the same name gets a number: notes.txt, notes-2.txt."""

    mime_type: str
    """Media type, such as text/plain."""

    data: str
    """Content in base64 with padding."""


class AutomationTriggerRequestParam(TypedDict):
    """A trigger to be set."""

    provider: Literal["webhook", "schedule"]
    """`webhook`: a delivery starts a run. `schedule`: the clock does."""

    webhook_uids: NotRequired[Sequence[str]]
    """With `webhook`: UIDs of webhooks of this factory."""

    payload: NotRequired[Mapping[str, Any]]
    """With `webhook`: payload filter that mirrors the delivery’s body; absent: every delivery."""

    name: NotRequired[str]
    """With `schedule`: label of the schedule."""

    cron: NotRequired[str]
    """With `schedule`: five cron fields in UTC, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`."""


class FactorySourceParam(TypedDict):
    """Where a factory's definitions come from: a git repository, a directory of the server (where the operator allows it), or the dashboard, where they are managed over the API."""

    kind: Literal["git", "directory", "dashboard"]
    """`git`, `directory` or `dashboard`; the members below belong to git unless they say otherwise."""

    url: NotRequired[str]
    """https or ssh address of the repository; required for git. Holds no user name and no password."""

    branch: NotRequired[str]
    """Branch; by default the one that the remote's HEAD names."""

    path: NotRequired[str]
    """Folder of the repository that is the factory's root (git), or the absolute path of the directory (directory; required there)."""

    interval: NotRequired[int]
    """Seconds between looks; by default what the server is configured with."""

    credential_secret: NotRequired[str]
    """Name of the managed secret, granted for the use `git`, that the repository is read with."""

    push_secret: NotRequired[str]
    """Name of the managed secret, granted for the use `forge`, that push notices of the git host are proven with."""

    forge: NotRequired[Literal["github", "gitlab", "gitea"]]
    """What the repository is hosted by: its open pull requests are judged and answered with a status and a comment. Needs `forge_secret`. `gitea` is Forgejo, too."""

    forge_secret: NotRequired[str]
    """Name of the managed secret, granted for the use `forge`, that holds the token for the interface of the forge."""

    forge_app: NotRequired[str]
    """ID or client ID of a GitHub App that is installed for the repository. `forge_secret` is its private key (PEM) then, and tokens of an hour are asked for with it."""

    forge_url: NotRequired[str]
    """https address of the interface of the forge; by default derived from `url`."""

    forge_repository: NotRequired[str]
    """The repository as the forge names it, `owner/name`; by default derived from `url`."""


class FederatedCredentialCreateParam(TypedDict):
    """Lets tokens of an issuer be exchanged for keys that last ten minutes."""

    name: str
    """What it is for; also the name of the service account that its keys belong to."""

    issuer: str
    """The issuer as its tokens name it (`iss`), byte for byte: an https URL without user, query or fragment. Its keys are found below it, at `/.well-known/openid-configuration`."""

    audience: str
    """Whom a token has to be made for (`aud`), and nobody else."""

    claims: Mapping[str, Sequence[str]]
    """What a token has to say: each claim by its name, with the values that are allowed for it, compared byte for byte. Of an issuer that serves everybody one of them has to name whose token it is."""

    role: Literal["viewer", "operator", "manager"]
    """What its keys may do. Not `admin`: such a key could make one that lasts."""

    factories: NotRequired[Sequence[str]]
    """UIDs of the only factories that its keys may see; absent: all of them."""


class FederatedCredentialPatchParam(TypedDict):
    """Changes a federated credential. Its issuer stays: make another one."""

    name: NotRequired[str]
    """What it is for."""

    audience: NotRequired[str]
    """Whom a token has to be made for (`aud`), and nobody else."""

    claims: NotRequired[Mapping[str, Sequence[str]]]
    """What a token has to say: each claim by its name, with the values that are allowed for it, compared byte for byte. Of an issuer that serves everybody one of them has to name whose token it is."""

    role: NotRequired[Literal["viewer", "operator", "manager"]]
    """What its keys may do. Not `admin`: such a key could make one that lasts."""

    factories: NotRequired[Optional[Sequence[str]]]
    """UIDs of the only factories that its keys may see; null: all of them."""


class FilterReplayRequestParam(TypedDict):
    """Asks which of the newest deliveries a trigger would have taken."""

    filter: Any
    """The payload filter; `{}` takes every payload."""

    webhook_uids: NotRequired[Sequence[str]]
    """Webhooks that the trigger selects. Without them the deliveries of all webhooks of the factory are asked."""

    limit: NotRequired[int]
    """Deliveries to ask at most."""


class FilterSuggestRequestParam(TypedDict):
    """Asks for a filter that takes some deliveries and leaves others."""

    entry_ids: Sequence[str]
    """Log entries of accepted deliveries that the filter shall take."""

    not_entry_ids: NotRequired[Sequence[str]]
    """Log entries of accepted deliveries that it shall leave. Without this: the other ones among the newest 50 of the same webhooks."""


class FilterTestRequestParam(TypedDict):
    """Asks whether a payload would satisfy a payload filter. Exactly one of entry_id and payload is given."""

    filter: Any
    """The payload filter: an object that mirrors the body; `{}` takes every payload."""

    entry_id: NotRequired[str]
    """Log entry of an accepted delivery of this factory, whose stored payload is tested."""

    payload: NotRequired[Any]
    """Any JSON value, null included, nested at most 60 deep."""

    webhook_uids: NotRequired[Sequence[str]]
    """Webhooks that the trigger selects. Without them only the payload decides."""


class FollowupAttachmentParam(TypedDict):
    """A file of a follow-up: sent along (file_name, mime_type and data), or a file that a run has made, by its ID (attachment_id)."""

    attachment_id: NotRequired[str]
    """UID of an artifact that is a file, of a run that the key may see, as the handoff attachments of a run name it."""

    file_name: NotRequired[str]
    """Name in the workspace, as of any attachment; by default that of the artifact."""

    mime_type: NotRequired[str]
    """Media type, such as text/plain."""

    data: NotRequired[str]
    """Content in base64 with padding."""


class ImageAttachmentParam(TypedDict):
    """An image of a request, as older clients send it; it becomes the attachment image-1.png, image-2.jpg and so on."""

    mime_type: Literal["image/jpeg", "image/png", "image/gif", "image/webp"]
    """Media type of the image."""

    data: str
    """Content in base64 with padding."""


class MCPServerConfigParam(TypedDict):
    """One MCP server: a command that is started beside the agent, or a URL; exactly one of the two."""

    warp_id: NotRequired[str]
    """A server that the hosted service keeps, in place of command and url; there are none here: it is ignored."""

    command: NotRequired[str]
    """Program to start beside the agent."""

    args: NotRequired[Sequence[str]]
    """Its arguments."""

    env: NotRequired[Mapping[str, str]]
    """Its environment variables."""

    url: NotRequired[str]
    """Address of a server that is reached over HTTP."""

    headers: NotRequired[Mapping[str, str]]
    """Headers of each request."""


class PermissionAnswerParam(TypedDict):
    """An answer to an agent that asks permission. Unknown members are ignored."""

    option_id: str
    """One of the options of the request."""


class PlanApprovalParam(TypedDict):
    """Approves held deletions, a rewritten history, or what runs could do more, by their digest."""

    plan: str
    """Digest of what is held now, as a sync shows it."""


class RunFollowupRequestParam(TypedDict):
    """Steers or continues a run. Members that are not served are ignored, and named in the answer."""

    message: NotRequired[str]
    """What to tell the agent; may be left out, or empty, where there are attachments."""

    mode: NotRequired[RunModeParam]
    """How the agent is asked to work on this message; normal by default. It counts for the turn that takes the message."""

    attachments: NotRequired[Sequence[FollowupAttachmentParam]]
    """Files for the agent, 25 at most: each sent along, or one that is here, by its attachment_id."""


class TreeFileParam(TypedDict):
    """One file of a factory's tree."""

    path: str
    """Path relative to the factory's root, with `/` between segments; no `..`, no empty segment, once in a tree."""

    content: str
    """Its text. More than 256 KiB (262,144 bytes of UTF-8) are a problem of the file."""


class WebhookCreateParam(TypedDict):
    """Makes a webhook on a factory that is managed here. Without `secret`, and without a `secret_name` that exists, a secret is generated, except for provider schemes: there the webhook is made disabled, to be finished when the provider’s secret is known."""

    name: str
    """Label for people, on one line. The slug is made of the first one."""

    auth_mode: NotRequired[Literal["token", "url_token", "signature"]]
    """How senders prove themselves. `token`: `Authorization: Bearer <secret>`. `url_token`: the secret is the last part of the URL. `signature`: each request is signed by the provider’s scheme."""

    signature_scheme: NotRequired[str]
    """Signature scheme of the provider, with `auth_mode` `signature` only; `GET /signature-schemes` lists them. `github`, `stripe`, `standard_webhooks`, `sentry`, `pagerduty`, `vercel` or `circleci`."""

    secret: NotRequired[str]
    """The credential, for example the provider’s signing secret; kept as a secret of the factory and never shown."""

    secret_name: NotRequired[str]
    """Name of the managed secret: an existing one that the factory may use for webhooks is used as it is, any other is made. By default `<slug>-webhook`."""

    delivery_id_header: NotRequired[str]
    """Request header whose value identifies a delivery: a second delivery with the same value starts nothing. A header of credentials, of the connection, of signatures, or one that is the same in many requests is refused."""

    replay_protection: NotRequired[Literal["body"]]
    """`body`: the signed body itself identifies a delivery too, for ever, so that a captured request that is sent again under another delivery ID starts nothing. With `auth_mode` `signature` only; for schemes that sign no time."""

    secret_overlap_minutes: NotRequired[int]
    """Minutes for which the value of before is accepted too when the secret has got another one; none unless said."""

    enabled: NotRequired[bool]
    """Whether it takes deliveries at once; by default as soon as its secret has a value."""

    description: NotRequired[str]
    """What it is for."""


class WebhookPatchParam(TypedDict):
    """Changes a webhook of a factory that is managed here; members that are absent stay. It acts on the next delivery."""

    name: NotRequired[str]
    """New label; slug and URL stay."""

    auth_mode: NotRequired[Literal["token", "url_token", "signature"]]
    """How senders prove themselves. `token`: `Authorization: Bearer <secret>`. `url_token`: the secret is the last part of the URL. `signature`: each request is signed by the provider’s scheme."""

    signature_scheme: NotRequired[Optional[str]]
    """Signature scheme of the provider, with `auth_mode` `signature` only; `GET /signature-schemes` lists them. null removes it."""

    secret_name: NotRequired[str]
    """Another existing managed secret that the factory may use for webhooks; its value is not shown."""

    delivery_id_header: NotRequired[Optional[str]]
    """Request header whose value identifies a delivery: a second delivery with the same value starts nothing. A header of credentials, of the connection, of signatures, or one that is the same in many requests is refused. null removes it."""

    replay_protection: NotRequired[Optional[Literal["body"]]]
    """`body`: the signed body itself identifies a delivery too, for ever, from the next delivery on. With `auth_mode` `signature` only. null removes it."""

    secret_overlap_minutes: NotRequired[Optional[int]]
    """Minutes for which the value of before is accepted too when the secret has got another one. Fewer shorten an overlap that is under way, null ends it."""

    enabled: NotRequired[bool]
    """false: senders get 404 at once; automations and history stay."""

    description: NotRequired[Optional[str]]
    """What it is for; null removes it."""


class WebhookRotateParam(TypedDict):
    """Replaces a webhook’s secret; the old one is dead with the answer."""

    secret: NotRequired[str]
    """The provider’s new signing secret: required for provider schemes, possible for `standard_webhooks`, refused otherwise."""


class ListRunsParams(TypedDict):
    """Query of listRuns."""

    limit: NotRequired[int]
    """Runs on a page at most."""

    cursor: NotRequired[str]
    """Where the page begins: `next_cursor` of an answer to the same query with the same key."""

    sort_by: NotRequired[Literal["updated_at", "created_at", "title"]]
    """What the list is sorted by. Titles are compared byte by byte."""

    sort_order: NotRequired[Literal["asc", "desc"]]
    """Direction of the order."""

    state: NotRequired[Sequence[RunStateParam]]
    """Runs in one of these states."""

    task_status: NotRequired[Sequence[Literal["running", "failed", "blocked", "cancelled", "complete"]]]
    """Runs with one of these statuses, narrowed by `state` where both are given. running: QUEUED, CLAIMED, PENDING or INPROGRESS, the run itself or one below it. failed: FAILED or ERROR. blocked: BLOCKED. cancelled: CANCELLED. complete: SUCCEEDED."""

    source: NotRequired[Sequence[RunSourceTypeParam]]
    """Runs of one of these sources. Every published name is known; those of integrations that this service does not have match nothing."""

    factory_uid: NotRequired[Sequence[str]]
    """Runs of one of these factories. One that the key may not see has none."""

    factory_only: NotRequired[bool]
    """Only runs of a factory, whichever."""

    name: NotRequired[str]
    """Runs whose configuration has this name."""

    config_name: NotRequired[str]
    """The same as `name`."""

    model_id: NotRequired[str]
    """Runs with this model."""

    creator: NotRequired[str]
    """Runs that this principal created: UID of a user or a service account."""

    executor: NotRequired[str]
    """Runs that this principal executes: the creator, where a run names nobody else."""

    environment_id: NotRequired[str]
    """Runs in this environment; `empty-environment`: runs without one."""

    skill: NotRequired[str]
    """Runs of this skill, written as they were started with it."""

    skill_spec: NotRequired[str]
    """The same as `skill`."""

    created_after: NotRequired[Union[datetime, str]]
    """Runs created after this time (RFC 3339), to the millisecond."""

    created_before: NotRequired[Union[datetime, str]]
    """Runs created before this time (RFC 3339), to the millisecond."""

    updated_after: NotRequired[Union[datetime, str]]
    """Runs that changed after this time (RFC 3339), to the millisecond."""

    automation_id: NotRequired[str]
    """Runs that this automation started."""

    webhook_uid: NotRequired[str]
    """Runs that deliveries to this webhook started."""

    delivery_id: NotRequired[str]
    """Runs that the delivery of this identity started."""

    schedule_id: NotRequired[str]
    """Runs that this schedule started."""

    execution_location: NotRequired[Literal["LOCAL", "REMOTE"]]
    """Where the runs are executed: all of this service's are REMOTE."""

    ancestor_run_id: NotRequired[str]
    """All runs below this one: its children, theirs, and so on. Below a run that the key may not see there are none."""

    artifact_type: NotRequired[Literal["PLAN", "PULL_REQUEST", "SCREENSHOT", "FILE", "EXTERNAL_REFERENCE"]]
    """Runs with an artifact of this type."""

    metadata: NotRequired[Mapping[str, str]]
    """Runs whose metadata has exactly these values, `metadata[key]=value`; five at most. Includes automation_id, webhook_uid, delivery_id and definition_revision."""

    q: NotRequired[str]
    """Words, ten at most, each of which stands somewhere in the title, the prompt or the skill; A–Z and a–z are the same. A run's whole ID, or the address of its page: that run."""


class ListRunEventsParams(TypedDict):
    """Query of listRunEvents."""

    after: NotRequired[int]
    """Entry of the log behind which to begin."""

    limit: NotRequired[int]
    """Entries at most; JSON only."""


class GetRunTimelineParams(TypedDict):
    """Query of getRunTimeline."""

    detail: NotRequired[Literal["published", "all"]]
    """published: events that clients of the hosted service know. all: also follow-ups, requests to cancel, and executions that were taken over or handed over."""


class GetRunConversationParams(TypedDict):
    """Query of getRunConversation."""

    limit: NotRequired[int]
    """Turns on a page at most; a page of long turns ends earlier."""

    cursor: NotRequired[str]
    """Where the page begins: `next_cursor` of an answer for the same conversation."""


class GetConversationParams(TypedDict):
    """Query of getConversation."""

    limit: NotRequired[int]
    """Turns on a page at most; a page of long turns ends earlier."""

    cursor: NotRequired[str]
    """Where the page begins: `next_cursor` of an answer for the same conversation."""


class ListAgentsParams(TypedDict):
    """Query of listAgents."""

    repo: NotRequired[str]
    """Only skills of this repository: owner/repo."""

    sort_by: NotRequired[Literal["name", "last_run"]]
    """name: by name. last_run: the one that was used last comes first."""

    include_malformed_skills: NotRequired[bool]
    """Has no effect: a skill that cannot be read is never applied."""

    refresh: NotRequired[bool]
    """Has no effect: what is applied is always current here."""


class ListEnvironmentsParams(TypedDict):
    """Query of listEnvironments."""

    sort_by: NotRequired[Literal["name", "last_updated"]]
    """name: by name. last_updated: the one that changed last comes first."""


class ListAgentIdentitiesParams(TypedDict):
    """Query of listAgentIdentities."""

    factory_uid: NotRequired[str]
    """Of this factory."""


class ListFactoriesParams(TypedDict):
    """Query of listFactories."""

    search: NotRequired[str]
    """Text that slug or name holds, whatever its case."""

    team_uid: NotRequired[str]
    """Only factories of this team. The installation has one, which is called `team`; others have none."""

    limit: NotRequired[int]
    """Factories on a page at most."""

    cursor: NotRequired[str]
    """Where the page begins: `next_cursor` of an answer to the same query."""


class SyncFactoryParams(TypedDict):
    """Query of syncFactory."""

    wait: NotRequired[bool]
    """Whether to answer only when the pass is over."""


class ListSyncsParams(TypedDict):
    """Query of listSyncs."""

    limit: NotRequired[int]
    """Passes on a page at most."""

    cursor: NotRequired[str]
    """Where the page begins: `next_cursor` of an answer to the same query."""


class ListFactoryEventsParams(TypedDict):
    """Query of listFactoryEvents."""

    limit: NotRequired[int]
    """Events on a page at most."""

    cursor: NotRequired[str]
    """Where the page begins: `next_cursor` of an answer to the same query."""


class ListPullRequestsParams(TypedDict):
    """Query of listPullRequests."""

    limit: NotRequired[int]
    """Pull requests on a page at most."""

    cursor: NotRequired[str]
    """Where the page begins: `next_cursor` of an answer to the same query."""


class ListAutomationsParams(TypedDict):
    """Query of listAutomations."""

    limit: NotRequired[int]
    """Entries on a page at most."""

    cursor: NotRequired[str]
    """Where the page begins: `next_cursor` of an answer to the same query."""


class ListDeliveriesParams(TypedDict):
    """Query of listDeliveries."""

    outcome: NotRequired[Sequence[Literal["Accepted", "Duplicate", "Rejected (auth)", "Rejected (invalid JSON)", "Rejected (too large)", "Throttled"]]]
    """Outcomes to show; all by default."""

    since: NotRequired[Union[datetime, str]]
    """Received at this time or later."""

    until: NotRequired[Union[datetime, str]]
    """Received before this time."""

    limit: NotRequired[int]
    """Entries on a page at most."""

    cursor: NotRequired[str]
    """Where the page begins: `next_cursor` of an answer to the same query."""


class ListTeamSecretsParams(TypedDict):
    """Query of listTeamSecrets."""

    limit: NotRequired[int]
    """Entries on a page at most."""

    cursor: NotRequired[str]
    """Where the page begins: `next_cursor` of an answer to the same query."""


class DeleteTeamSecretParams(TypedDict):
    """Query of deleteTeamSecret."""

    force: NotRequired[bool]
    """Delete it although it is used."""


class ListFactorySecretsParams(TypedDict):
    """Query of listFactorySecrets."""

    limit: NotRequired[int]
    """Entries on a page at most."""

    cursor: NotRequired[str]
    """Where the page begins: `next_cursor` of an answer to the same query."""


class DeleteFactorySecretParams(TypedDict):
    """Query of deleteFactorySecret."""

    force: NotRequired[bool]
    """Delete it although it is used."""


class ListApiKeysParams(TypedDict):
    """Query of listApiKeys."""

    limit: NotRequired[int]
    """Entries on a page at most."""

    cursor: NotRequired[str]
    """Where the page begins: `next_cursor` of an answer to the same query."""

    include_revoked: NotRequired[bool]
    """Whether revoked keys are listed too."""


class ListAuditEntriesParams(TypedDict):
    """Query of listAuditEntries."""

    limit: NotRequired[int]
    """Entries on a page at most."""

    cursor: NotRequired[str]
    """Where the page begins: `next_cursor` of an answer to the same query."""

    actor: NotRequired[str]
    """UID of the principal that made the change."""

    action: NotRequired[str]
    """Exact action, such as `secret.change`."""

    subject: NotRequired[str]
    """Exact subject: an identifier, or a secret's name."""

    factory_uid: NotRequired[str]
    """The factory that it concerns."""

    since: NotRequired[Union[datetime, str]]
    """Changes at this time or later."""

    until: NotRequired[Union[datetime, str]]
    """Changes before this time."""


class GetDeliveryStatisticsParams(TypedDict):
    """Query of getDeliveryStatistics."""

    factory_uid: NotRequired[str]
    """Of one factory; of all that the key may see by default."""

    webhook_uid: NotRequired[str]
    """Of one webhook."""

    since: NotRequired[Union[datetime, str]]
    """Begin; a day before the end by default."""

    until: NotRequired[Union[datetime, str]]
    """End; now by default."""

    buckets: NotRequired[int]
    """About how many buckets; their length is a round one between a minute and a week."""


class GetRunStatisticsParams(TypedDict):
    """Query of getRunStatistics."""

    factory_uid: NotRequired[str]
    """Of one factory; of all that the key may see by default."""

    automation_id: NotRequired[str]
    """Of one automation."""

    webhook_uid: NotRequired[str]
    """Of one webhook."""

    since: NotRequired[Union[datetime, str]]
    """Begin; a day before the end by default."""

    until: NotRequired[Union[datetime, str]]
    """End; now by default."""

    buckets: NotRequired[int]
    """About how many buckets; their length is a round one between a minute and a week."""


class AgentIdentityCreateSecretsItemParam(TypedDict):
    name: str
    """Name of a managed secret."""


class AgentIdentityUpdateSecretsItemParam(TypedDict):
    name: str
    """Name of a managed secret."""


class AgentIdentityUpdateSecretsAppendItemParam(TypedDict):
    name: str
    """Name of a managed secret."""


class AmbientAgentConfigSecretsItemParam(TypedDict):
    name: str
    """Name of a managed secret that is granted for runs."""

    host: NotRequired[str]
    """Host whose https requests carry it; the run has a placeholder, and the value is added outside of its sandbox."""

    header: NotRequired[str]
    """Header that carries it, with a scheme behind a colon where it is not Bearer."""

    methods: NotRequired[Sequence[Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]]]
    """Methods of the requests; GET and HEAD unless said."""

    paths: NotRequired[Sequence[str]]
    """Paths of the requests; every one unless said. * stands for anything but a slash, ** for anything."""

    expose: NotRequired[Literal["env"]]
    """env: it is inside the sandbox, as a variable."""


class ApiKeyCreatePrincipalParam(TypedDict):
    """A new principal that the key belongs to. Without it and `principal_uid` the key belongs to whoever makes it."""

    type: Literal["user", "service_account"]
    """Whether it is a person or a program."""

    display_name: str
    """Name for people."""

    email: NotRequired[str]
    """Where its owner can be reached."""


class AutomationAgentHarnessParam(TypedDict):
    """The program that carries out the run."""

    type: NotRequired[str]
    """Harness as the server’s operator configured it."""

    model_id: NotRequired[str]
    """Model inside this harness; wins over `model_id`."""

    reasoning_level: NotRequired[str]
    """How long the model may think, in the harness’s own words."""


class AutomationAgentSecretsItemParam(TypedDict):
    name: str
    """Name of the managed secret; it becomes the variable’s name."""

    host: NotRequired[str]
    """Host whose https requests carry it; the run has a placeholder, and the value is added outside of its sandbox."""

    header: NotRequired[str]
    """Header that carries it, with a scheme behind a colon where it is not Bearer."""

    methods: NotRequired[Sequence[Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]]]
    """Methods of the requests; GET and HEAD unless said."""

    paths: NotRequired[Sequence[str]]
    """Paths of the requests; every one unless said. * stands for anything but a slash, ** for anything."""

    expose: NotRequired[Literal["env"]]
    """env: it is inside the sandbox, as a variable."""


class AutomationCreateConcurrencyParam(TypedDict):
    """How runs of the automation stand to each other."""

    group: NotRequired[str]
    """Runs of one group take turns. Absent: all runs of the automation. A JSON pointer: its runs whose payloads have the same value there. Any other text: a name that all automations of the factory share."""

    when_busy: NotRequired[Literal["queue", "skip", "replace"]]
    """What a new run does while the group is busy: wait, start nothing, or cancel the old one."""


class AutomationCreateLimitsParam(TypedDict):
    """A run that goes over one of these is ended."""

    tokens: NotRequired[int]
    """Model tokens."""

    cost: NotRequired[float]
    """Cost in the server’s currency."""

    minutes: NotRequired[int]
    """Minutes from start to end."""


class AutomationCreateNetworkParam(TypedDict):
    """What a run may reach beside the model and its repositories."""

    allow: NotRequired[Sequence[str]]
    """Host names; a leading `*.` stands for any sub-domain."""


class AutomationPatchConcurrencyParam(TypedDict):
    """How runs of the automation stand to each other. null removes it."""

    group: NotRequired[str]
    """Runs of one group take turns. Absent: all runs of the automation. A JSON pointer: its runs whose payloads have the same value there. Any other text: a name that all automations of the factory share."""

    when_busy: NotRequired[Literal["queue", "skip", "replace"]]
    """What a new run does while the group is busy: wait, start nothing, or cancel the old one."""


class AutomationPatchLimitsParam(TypedDict):
    """A run that goes over one of these is ended. null removes them."""

    tokens: NotRequired[int]
    """Model tokens."""

    cost: NotRequired[float]
    """Cost in the server’s currency."""

    minutes: NotRequired[int]
    """Minutes from start to end."""


class AutomationPatchNetworkParam(TypedDict):
    """What a run may reach beside the model and its repositories. null removes it."""

    allow: NotRequired[Sequence[str]]
    """Host names; a leading `*.` stands for any sub-domain."""


class SecretPutGrantsParam(TypedDict):
    """Who may use it for what; what is not named stays as it is. By default all factories, for webhooks."""

    factories: NotRequired[Union[Literal["*"], Sequence[str]]]
    """`*` for all, or UIDs of factories; a factory's own secret is always for that factory only."""

    uses: NotRequired[Sequence[Literal["webhook", "run", "git", "forge"]]]
    """`webhook` authenticates deliveries, `run` is a variable of runs, `git` reads the repository, `forge` verifies and answers its host."""

    runs: NotRequired[Union[Literal["files", "*"], Sequence[str]]]
    """Which runs, where `uses` has them. `files` (unless said): those for which a file of the factory names it (their automation, their environment or factory.yaml). `*`: also those whose request names it, and inside runs that a request starts, so that whoever may start runs can read it. A list: of the first, only runs of these automations and in these environments."""

    hosts: NotRequired[Union[Optional[Literal["*"]], Sequence[str]]]
    """Where its value may go: to git hosts, and by injections. Hosts (`example.com`, `*.example.com`, `example.com:8443`; without a port https and ssh); `*`: any; null: none yet, the first one that it is sent to is its host from then on."""


class SyncPolicyVerifyCommitsParam(TypedDict):
    """Only a tip that one of these keys signed may apply; what was verified last serves on. Git sources only."""

    keys: Sequence[str]
    """OpenSSH public keys (`ssh-ed25519 AAAA… comment`, one a string) and armoured OpenPGP public key blocks."""


class SyncPolicyWindowsItemParam(TypedDict):
    kind: Literal["allow", "deny"]
    """`allow` or `deny`."""

    schedule: str
    """When it opens: five cron fields, in UTC."""

    duration_minutes: int
    """How long it stays open."""


class AgentIdentityCreateParam(TypedDict):
    """Makes an agent identity: defaults of the runs that name it. Unknown members are ignored."""

    name: str
    """Its name."""

    factory_uid: NotRequired[Optional[str]]
    """Factory that it belongs to, and its runs with it."""

    harness: NotRequired[AgentHarnessParam]
    """Program that drives its agent, with its model."""

    skills: NotRequired[Sequence[str]]
    """Skills of its runs."""

    secrets: NotRequired[Sequence[AgentIdentityCreateSecretsItemParam]]
    """Managed secrets of its runs, by name; each as its grants allow."""

    description: NotRequired[Optional[str]]
    """What it is for."""

    agent_type: NotRequired[Optional[Literal["FOREMAN", "TRIAGE", "SPEC", "IMPLEMENT", "REVIEW", "VERIFY", "CUSTOM"]]]
    """A label; it changes nothing."""

    prompt: NotRequired[Optional[str]]
    """Base prompt of its runs."""

    base_model: NotRequired[Optional[str]]
    """Model of its runs."""

    base_harness: NotRequired[Optional[str]]
    """Older form of harness.type."""

    environment_id: NotRequired[Optional[str]]
    """Environment of its runs: its UID, or the name of one of the factory's."""

    worker_host: NotRequired[Optional[str]]
    """Machine that works on its runs."""

    mcp_servers: NotRequired[Mapping[str, MCPServerConfigParam]]
    """MCP servers of its runs, by name."""

    credential_strategy: NotRequired[Any]
    """With whose credentials its runs work. Not served here: a value that would change something is answered with 422."""

    default_runner_uid: NotRequired[Any]
    """Runner of its runs. Not served here: a value that would change something is answered with 422."""

    harness_auth_secrets: NotRequired[Any]
    """Secrets of other harnesses; the operator's profiles name theirs. Not served here: a value that would change something is answered with 422."""

    inference_providers: NotRequired[Any]
    """Where models are called. Not served here: a value that would change something is answered with 422."""

    memory: NotRequired[Any]
    """What it remembers between runs. Not served here: a value that would change something is answered with 422."""

    on_behalf_of_enabled: NotRequired[Any]
    """Whether its runs may be somebody else's. Not served here: a value that would change something is answered with 422."""


class AgentIdentityUpdateParam(TypedDict):
    """Changes an agent identity: what is left out or null stays; an empty text, list or object clears."""

    name: NotRequired[str]
    """Its name."""

    harness: NotRequired[Optional[AgentHarnessParam]]
    """Program that drives its agent, with its model; without members: none."""

    skills: NotRequired[Optional[Sequence[str]]]
    """Skills of its runs."""

    secrets: NotRequired[Optional[Sequence[AgentIdentityUpdateSecretsItemParam]]]
    """Managed secrets of its runs, in place of those that it has."""

    secrets_append: NotRequired[Sequence[AgentIdentityUpdateSecretsAppendItemParam]]
    """Managed secrets beside those that it has; by itself in a request."""

    description: NotRequired[Optional[str]]
    """What it is for."""

    agent_type: NotRequired[Optional[Literal["FOREMAN", "TRIAGE", "SPEC", "IMPLEMENT", "REVIEW", "VERIFY", "CUSTOM"]]]
    """A label; it changes nothing."""

    prompt: NotRequired[Optional[str]]
    """Base prompt of its runs."""

    base_model: NotRequired[Optional[str]]
    """Model of its runs."""

    base_harness: NotRequired[Optional[str]]
    """Older form of harness.type."""

    environment_id: NotRequired[Optional[str]]
    """Environment of its runs: its UID, or the name of one of the factory's."""

    worker_host: NotRequired[Optional[str]]
    """Machine that works on its runs."""

    mcp_servers: NotRequired[Mapping[str, MCPServerConfigParam]]
    """MCP servers of its runs, by name."""

    credential_strategy: NotRequired[Any]
    """With whose credentials its runs work. Not served here: a value that would change something is answered with 422."""

    default_runner_uid: NotRequired[Any]
    """Runner of its runs. Not served here: a value that would change something is answered with 422."""

    harness_auth_secrets: NotRequired[Any]
    """Secrets of other harnesses; the operator's profiles name theirs. Not served here: a value that would change something is answered with 422."""

    inference_providers: NotRequired[Any]
    """Where models are called. Not served here: a value that would change something is answered with 422."""

    memory: NotRequired[Any]
    """What it remembers between runs. Not served here: a value that would change something is answered with 422."""

    on_behalf_of_enabled: NotRequired[Any]
    """Whether its runs may be somebody else's. Not served here: a value that would change something is answered with 422."""


class AmbientAgentConfigParam(TypedDict):
    """Configuration of an agent. In a request: what the run itself says; a RunItem shows it resolved, run over automation over factory over server."""

    name: NotRequired[str]
    """Label for grouping and filtering; by default the name of the skill, else of the automation."""

    model_id: NotRequired[str]
    """Language model."""

    base_prompt: NotRequired[str]
    """Shapes the agent's behaviour."""

    environment_id: NotRequired[str]
    """Environment: its UID, or the name of one of the factory's."""

    skill_spec: NotRequired[str]
    """Skill used as the base prompt: owner/repo:skill-name, owner/repo:path/to/SKILL.md, or the name of a skill of the factory."""

    skills: NotRequired[Sequence[str]]
    """Several skills in order, each written as in skill_spec, which must not stand beside it; the texts of all are the base prompt, one behind the other."""

    mcp_servers: NotRequired[Mapping[str, MCPServerConfigParam]]
    """MCP servers by name; a level's servers replace those of the levels below it."""

    harness: NotRequired[AgentHarnessParam]
    """Program that drives the agent."""

    idle_timeout_minutes: NotRequired[int]
    """Minutes that an interactive run waits for the answer to what its agent asks permission for, before that is refused; 0: it does not wait; 10 unless said."""

    computer_use_enabled: NotRequired[bool]
    """Whether the agent may use a desktop; there is none here, so that true is ignored."""

    worker_host: NotRequired[str]
    """Machine that works on the run: what its service is called (MILLWRIGHT_WORKER_HOST). The run waits until that one has a place; without it, or with `warp`, any machine will do."""

    secrets: NotRequired[Sequence[AmbientAgentConfigSecretsItemParam]]
    """Managed secrets of the run: added outside of its sandbox, or inside as environment variables; a level's list replaces those of the levels below it."""


class ApiKeyCreateParam(TypedDict):
    """Makes an API key."""

    name: str
    """What it is for."""

    role: Literal["viewer", "operator", "manager", "admin"]
    """What it may do; a key that is limited to factories cannot be `admin`."""

    principal: NotRequired[ApiKeyCreatePrincipalParam]
    """A new principal that the key belongs to. Without it and `principal_uid` the key belongs to whoever makes it."""

    principal_uid: NotRequired[str]
    """UID of an existing principal that the key belongs to; not together with `principal`."""

    factories: NotRequired[Sequence[str]]
    """UIDs of the only factories it may see; absent: all of them."""

    expires_at: NotRequired[Union[datetime, str]]
    """From when on it is refused; in the future. Absent: never, unless `expires_in_days` says otherwise."""

    expires_in_days: NotRequired[int]
    """The same as days from now; not together with `expires_at`."""


class AutomationAgentParam(TypedDict):
    """How an automation wants its agent to run, before what factory and server say."""

    model_id: NotRequired[str]
    """Language model."""

    base_prompt: NotRequired[str]
    """Text put before every prompt."""

    environment_id: NotRequired[str]
    """Environment of the run."""

    skill_spec: NotRequired[str]
    """Skill used as base prompt: `owner/repo:skill-name` or `owner/repo:path/to/SKILL.md`, or a skill of the factory."""

    mcp_servers: NotRequired[Mapping[str, Mapping[str, Any]]]
    """MCP servers that the agent may use, by name: `command`, `args`, `env`, or `url`, `headers`."""

    harness: NotRequired[AutomationAgentHarnessParam]
    """The program that carries out the run."""

    secrets: NotRequired[Sequence[AutomationAgentSecretsItemParam]]
    """Managed secrets of the run: added outside of its sandbox, or inside as environment variables."""

    idle_timeout_minutes: NotRequired[int]
    """Minutes that an agent which has nothing to do keeps waiting for follow-ups."""


class AutomationCreateParam(TypedDict):
    """Makes an automation on a factory that is managed here, under the rules of automation files."""

    name: str
    """Label for people, on one line. The slug is made of the first one."""

    description: NotRequired[str]
    """What it is for."""

    enabled: NotRequired[bool]
    """false: its triggers start nothing."""

    triggers: Sequence[AutomationTriggerRequestParam]
    """What starts it; any one is enough."""

    prompt: str
    """What the agent shall do; not empty."""

    agent: NotRequired[AutomationAgentParam]
    """What it says of the agent; what is absent, factory and server decide."""

    concurrency: NotRequired[AutomationCreateConcurrencyParam]
    """How runs of the automation stand to each other."""

    limits: NotRequired[AutomationCreateLimitsParam]
    """A run that goes over one of these is ended."""

    network: NotRequired[AutomationCreateNetworkParam]
    """What a run may reach beside the model and its repositories."""


class AutomationPatchParam(TypedDict):
    """Changes an automation of a factory that is managed here; members that are absent stay, the others are replaced whole. It acts on the next delivery."""

    name: NotRequired[str]
    """New label; slug and UID stay."""

    description: NotRequired[Optional[str]]
    """What it is for; null removes it."""

    enabled: NotRequired[bool]
    """false: its triggers start nothing."""

    triggers: NotRequired[Sequence[AutomationTriggerRequestParam]]
    """What starts it; any one is enough."""

    prompt: NotRequired[str]
    """What the agent shall do; not empty."""

    agent: NotRequired[Optional[AutomationAgentParam]]
    """What it says of the agent; null: nothing, so that factory and server decide."""

    concurrency: NotRequired[Optional[AutomationPatchConcurrencyParam]]
    """How runs of the automation stand to each other. null removes it."""

    limits: NotRequired[Optional[AutomationPatchLimitsParam]]
    """A run that goes over one of these is ended. null removes them."""

    network: NotRequired[Optional[AutomationPatchNetworkParam]]
    """What a run may reach beside the model and its repositories. null removes it."""


class FactoryDispatchRequestParam(TypedDict):
    """Starts a run in a factory. Members that are not served are ignored, and named in the answer."""

    prompt: str
    """What the agent has to do."""

    title: NotRequired[str]
    """Title; by default the first line of the prompt."""

    config: NotRequired[AmbientAgentConfigParam]
    """What the run says about its agent; everything else comes from the factory and the server."""

    metadata: NotRequired[Mapping[str, str]]
    """Up to 20 entries of the caller's own: keys of 1 to 64 of A–Z a–z 0–9 . _ -, values of at most 256 bytes."""

    attachments: NotRequired[Sequence[AttachmentParam]]
    """Files for the agent."""

    ticket_ref: NotRequired[str]
    """Reference of the ticket that the run is about; at most 256 bytes, kept as metadata."""

    ticket_url: NotRequired[str]
    """Address of the ticket; at most 256 bytes, kept as metadata and as the run's trigger_url."""


class FactoryFilesValidateRequestParam(TypedDict):
    """A tree of definition files, to be checked without a factory."""

    files: Sequence[TreeFileParam]
    """The whole tree: what is left out counts as deleted. At most 2,000 files; without a key 256 of 256 KiB each and 2 MiB together. With a key 64 MiB of text together: a request body of more than 3 MiB says its length (Content-Length). Files that are no definitions are ignored."""

    secrets: NotRequired[Sequence[str]]
    """Names of the secrets that exist, for webhooks and runs alike; without them no name is checked."""


class PlanRequestParam(TypedDict):
    """A tree of definition files, or a ref of the repository that the factory follows: one of both."""

    files: NotRequired[Sequence[TreeFileParam]]
    """The whole tree: what is left out counts as deleted. At most 2,000 files and 64 MiB of text together: a request body of more than 1 MiB says its length (Content-Length). Files that are no definitions are ignored."""

    ref: NotRequired[str]
    """A branch or a tag (`main`, `refs/heads/main`, `refs/tags/v1`), a whole commit ID, `HEAD`, or a pull request (`pull/12`, `merge-requests/12`) of the repository that the factory follows. The service fetches it with the credential and within the bounds of a sync; nothing of it is applied. Pull requests are judged without what is known of secrets."""


class RunAgentRequestParam(TypedDict):
    """Creates a run. Members that are not served are ignored, and named in the answer."""

    prompt: NotRequired[str]
    """What the agent has to do; required unless a skill is named, or a conversation to go on with."""

    title: NotRequired[str]
    """Title; by default the first line of the prompt."""

    config: NotRequired[AmbientAgentConfigParam]
    """What the run says about its agent; everything else comes from the factory and the server."""

    skill: NotRequired[str]
    """Skill used as the base prompt: owner/repo:skill-name, owner/repo:path/to/SKILL.md, or the name of a skill of the factory; wins over config.skill_spec."""

    conversation_id: NotRequired[str]
    """Conversation that the run continues; by default its own, under its own ID."""

    parent_run_id: NotRequired[str]
    """Run that this one was started by."""

    metadata: NotRequired[Mapping[str, str]]
    """Up to 20 entries of the caller's own: keys of 1 to 64 of A–Z a–z 0–9 . _ -, values of at most 256 bytes."""

    attachments: NotRequired[Sequence[AttachmentParam]]
    """Files for the agent; at most 5 together with images."""

    images: NotRequired[Sequence[ImageAttachmentParam]]
    """Images for the agent, the older form of attachments."""

    mode: NotRequired[RunModeParam]
    interactive: NotRequired[bool]
    """Whether somebody will watch and answer: what the agent asks permission for is then put to people while the run is BLOCKED, instead of being allowed. Handed to a command in the variable MILLWRIGHT_INTERACTIVE."""

    factory_uid: NotRequired[str]
    """Factory whose defaults and rights apply; required for a key that is limited to factories."""

    team: NotRequired[bool]
    """Whether the run is the team's. Every run is the installation's: false is ignored."""

    agent_identity_uid: NotRequired[Optional[str]]
    """Agent identity whose settings hold where the run says nothing, before those of its factory."""

    on_behalf_of: NotRequired[Any]
    """Not supported here: answered with 422."""


class ScheduleCreateParam(TypedDict):
    """Makes a schedule. Members that are not served here are ignored, and named in the answer."""

    name: str
    """Name for people."""

    cron_schedule: str
    """When it fires: five cron fields in UTC, an @ word, or @every with a duration."""

    prompt: NotRequired[str]
    """What its runs are asked; required unless agent_config names a skill."""

    enabled: NotRequired[bool]
    """Whether it fires from now on; true unless said."""

    agent_config: NotRequired[AmbientAgentConfigParam]
    """What its runs say about their agent; everything else comes from the agent identity, the factory and the server."""

    metadata: NotRequired[Mapping[str, str]]
    """Metadata of its runs, as of POST /agent/runs."""

    mode: NotRequired[RunModeParam]
    """How its runs are asked to work; normal unless said."""

    factory_uid: NotRequired[str]
    """Factory whose defaults and environments its runs have; required for a key that is limited to factories. It does not change later."""

    team: NotRequired[bool]
    """Schedules belong to everybody who may see their factory: false is ignored."""

    agent_uid: NotRequired[Optional[str]]
    """Agent identity whose defaults its runs have, below agent_config and above its factory's."""


class ScheduleUpdateParam(TypedDict):
    """Changes a schedule. What may be absent and is stays as it is; what is given replaces what was. Members that are not served here are ignored, and named in the answer."""

    name: str
    """Name for people."""

    cron_schedule: str
    """When it fires: five cron fields in UTC, an @ word, or @every with a duration. Another one counts from now."""

    enabled: bool
    """Whether it fires."""

    prompt: NotRequired[str]
    """What its runs are asked."""

    agent_config: NotRequired[AmbientAgentConfigParam]
    """What its runs say about their agent, in place of all that was said before."""

    metadata: NotRequired[Mapping[str, str]]
    """Metadata of its runs, in place of what was."""

    mode: NotRequired[RunModeParam]
    """How its runs are asked to work."""

    agent_uid: NotRequired[Optional[str]]
    """Agent identity whose defaults its runs have, below agent_config and above its factory's. null: none."""


class SecretPutParam(TypedDict):
    """Sets a managed secret's value, its grants, or both. With neither it is declared: it exists and authenticates nobody."""

    value: NotRequired[str]
    """The exact text of the secret, Unicode of at most 65536 characters; never shown again."""

    grants: NotRequired[SecretPutGrantsParam]
    """Who may use it for what; what is not named stays as it is. By default all factories, for webhooks."""


class SyncPolicyParam(TypedDict):
    """What is asked of commits before they may apply, and when they may. It stands here and not in the repository, so that who may commit may not decide it. Empty: nothing is asked."""

    verify_commits: NotRequired[SyncPolicyVerifyCommitsParam]
    """Only a tip that one of these keys signed may apply; what was verified last serves on. Git sources only."""

    fast_forward_only: NotRequired[bool]
    """Whether a tip that does not descend from the one before waits for an approval. Without it such a tip applies, and the condition HistoryRewritten says so. Git sources only."""

    growth_approval: NotRequired[Literal["manager", "admin"]]
    """Who has to approve a revision with which runs could do more than before: read what wider circles write, have a new secret, host, repository, tool or effect, or more budget. Without it such a revision applies, and plans show what grows."""

    windows: NotRequired[Sequence[SyncPolicyWindowsItemParam]]
    """When definitions may apply, in UTC; secrets are always taken over. Inside of a `deny` window nothing applies; with `allow` windows, nothing applies outside of all of them."""


class FactoryCreateParam(TypedDict):
    """Makes a factory. Unknown members are refused."""

    slug: str
    """Permanent name, unique among the factories; every UID of the factory follows from it."""

    name: NotRequired[str]
    """Label for people; by default the slug."""

    source: FactorySourceParam
    sync_policy: NotRequired[SyncPolicyParam]
    """What is asked of commits before they may apply; by default nothing."""


class FactoryPatchParam(TypedDict):
    """Changes a factory's label, its source, or both; what is absent stays. Unknown members are refused."""

    name: NotRequired[str]
    """Label for people. The factory's own file decides it where that names one: then this is answered with 409."""

    source: NotRequired[FactorySourceParam]
    """The whole new source; members that it leaves out are gone. UIDs and ingress URLs stay."""

    sync_policy: NotRequired[SyncPolicyParam]
    """The whole new policy; members that it leaves out are gone."""
