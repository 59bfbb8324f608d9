package antiphon.compiler.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * Compiles turn requests (ADR-0007 as a service).
 * A compilation is a pure function of the snapshot and the request: it reads
 * no clock, draws nothing at random, calls no model and changes nothing. The
 * same snapshot and the same request give the same bytes in every process.
 * With a branch as the source, every compilation makes one ReadSnapshot call
 * with the caller's own metadata and deadline, at one revision; the address of
 * the history service comes from the compiler's configuration, never from a
 * request.
 * Every RPC may answer MALFORMED_REQUEST, UNKNOWN_FIELD, FIELD_INVALID,
 * SIZE_LIMIT_EXCEEDED (a request over 3.5 MiB, a branch's selection over 256
 * MiB), CREDENTIALS_MISSING, ROLE_NOT_ALLOWED, OVERLOADED, SHUTTING_DOWN and
 * INTERNAL_ERROR; with a branch as the source also HISTORY_UNAVAILABLE,
 * SNAPSHOT_TRUNCATED and the errors of HistoryService.ReadSnapshot.
 * </pre>
 */
@javax.annotation.Generated(
    value = "by gRPC proto compiler",
    comments = "Source: antiphon/compiler/v1/compiler_service.proto")
@io.grpc.stub.annotations.GrpcGenerated
public final class CompilerServiceGrpc {

  private CompilerServiceGrpc() {}

  public static final String SERVICE_NAME = "antiphon.compiler.v1.CompilerService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<antiphon.compiler.v1.CompileRequest,
      antiphon.compiler.v1.CompileResponse> getCompileMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "Compile",
      requestType = antiphon.compiler.v1.CompileRequest.class,
      responseType = antiphon.compiler.v1.CompileResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.compiler.v1.CompileRequest,
      antiphon.compiler.v1.CompileResponse> getCompileMethod() {
    io.grpc.MethodDescriptor<antiphon.compiler.v1.CompileRequest, antiphon.compiler.v1.CompileResponse> getCompileMethod;
    if ((getCompileMethod = CompilerServiceGrpc.getCompileMethod) == null) {
      synchronized (CompilerServiceGrpc.class) {
        if ((getCompileMethod = CompilerServiceGrpc.getCompileMethod) == null) {
          CompilerServiceGrpc.getCompileMethod = getCompileMethod =
              io.grpc.MethodDescriptor.<antiphon.compiler.v1.CompileRequest, antiphon.compiler.v1.CompileResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "Compile"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.compiler.v1.CompileRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.compiler.v1.CompileResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CompilerServiceMethodDescriptorSupplier("Compile"))
              .build();
        }
      }
    }
    return getCompileMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.compiler.v1.StreamCompileRequest,
      antiphon.compiler.v1.StreamCompileResponse> getStreamCompileMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "StreamCompile",
      requestType = antiphon.compiler.v1.StreamCompileRequest.class,
      responseType = antiphon.compiler.v1.StreamCompileResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<antiphon.compiler.v1.StreamCompileRequest,
      antiphon.compiler.v1.StreamCompileResponse> getStreamCompileMethod() {
    io.grpc.MethodDescriptor<antiphon.compiler.v1.StreamCompileRequest, antiphon.compiler.v1.StreamCompileResponse> getStreamCompileMethod;
    if ((getStreamCompileMethod = CompilerServiceGrpc.getStreamCompileMethod) == null) {
      synchronized (CompilerServiceGrpc.class) {
        if ((getStreamCompileMethod = CompilerServiceGrpc.getStreamCompileMethod) == null) {
          CompilerServiceGrpc.getStreamCompileMethod = getStreamCompileMethod =
              io.grpc.MethodDescriptor.<antiphon.compiler.v1.StreamCompileRequest, antiphon.compiler.v1.StreamCompileResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "StreamCompile"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.compiler.v1.StreamCompileRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.compiler.v1.StreamCompileResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CompilerServiceMethodDescriptorSupplier("StreamCompile"))
              .build();
        }
      }
    }
    return getStreamCompileMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.compiler.v1.ParseResponseRequest,
      antiphon.compiler.v1.ParseResponseResponse> getParseResponseMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ParseResponse",
      requestType = antiphon.compiler.v1.ParseResponseRequest.class,
      responseType = antiphon.compiler.v1.ParseResponseResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.compiler.v1.ParseResponseRequest,
      antiphon.compiler.v1.ParseResponseResponse> getParseResponseMethod() {
    io.grpc.MethodDescriptor<antiphon.compiler.v1.ParseResponseRequest, antiphon.compiler.v1.ParseResponseResponse> getParseResponseMethod;
    if ((getParseResponseMethod = CompilerServiceGrpc.getParseResponseMethod) == null) {
      synchronized (CompilerServiceGrpc.class) {
        if ((getParseResponseMethod = CompilerServiceGrpc.getParseResponseMethod) == null) {
          CompilerServiceGrpc.getParseResponseMethod = getParseResponseMethod =
              io.grpc.MethodDescriptor.<antiphon.compiler.v1.ParseResponseRequest, antiphon.compiler.v1.ParseResponseResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ParseResponse"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.compiler.v1.ParseResponseRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.compiler.v1.ParseResponseResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CompilerServiceMethodDescriptorSupplier("ParseResponse"))
              .build();
        }
      }
    }
    return getParseResponseMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.compiler.v1.AssembleResponseRequest,
      antiphon.compiler.v1.AssembleResponseResponse> getAssembleResponseMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "AssembleResponse",
      requestType = antiphon.compiler.v1.AssembleResponseRequest.class,
      responseType = antiphon.compiler.v1.AssembleResponseResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.CLIENT_STREAMING)
  public static io.grpc.MethodDescriptor<antiphon.compiler.v1.AssembleResponseRequest,
      antiphon.compiler.v1.AssembleResponseResponse> getAssembleResponseMethod() {
    io.grpc.MethodDescriptor<antiphon.compiler.v1.AssembleResponseRequest, antiphon.compiler.v1.AssembleResponseResponse> getAssembleResponseMethod;
    if ((getAssembleResponseMethod = CompilerServiceGrpc.getAssembleResponseMethod) == null) {
      synchronized (CompilerServiceGrpc.class) {
        if ((getAssembleResponseMethod = CompilerServiceGrpc.getAssembleResponseMethod) == null) {
          CompilerServiceGrpc.getAssembleResponseMethod = getAssembleResponseMethod =
              io.grpc.MethodDescriptor.<antiphon.compiler.v1.AssembleResponseRequest, antiphon.compiler.v1.AssembleResponseResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.CLIENT_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "AssembleResponse"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.compiler.v1.AssembleResponseRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.compiler.v1.AssembleResponseResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CompilerServiceMethodDescriptorSupplier("AssembleResponse"))
              .build();
        }
      }
    }
    return getAssembleResponseMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.compiler.v1.PlanWindowRequest,
      antiphon.compiler.v1.PlanWindowResponse> getPlanWindowMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "PlanWindow",
      requestType = antiphon.compiler.v1.PlanWindowRequest.class,
      responseType = antiphon.compiler.v1.PlanWindowResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.compiler.v1.PlanWindowRequest,
      antiphon.compiler.v1.PlanWindowResponse> getPlanWindowMethod() {
    io.grpc.MethodDescriptor<antiphon.compiler.v1.PlanWindowRequest, antiphon.compiler.v1.PlanWindowResponse> getPlanWindowMethod;
    if ((getPlanWindowMethod = CompilerServiceGrpc.getPlanWindowMethod) == null) {
      synchronized (CompilerServiceGrpc.class) {
        if ((getPlanWindowMethod = CompilerServiceGrpc.getPlanWindowMethod) == null) {
          CompilerServiceGrpc.getPlanWindowMethod = getPlanWindowMethod =
              io.grpc.MethodDescriptor.<antiphon.compiler.v1.PlanWindowRequest, antiphon.compiler.v1.PlanWindowResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "PlanWindow"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.compiler.v1.PlanWindowRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.compiler.v1.PlanWindowResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CompilerServiceMethodDescriptorSupplier("PlanWindow"))
              .build();
        }
      }
    }
    return getPlanWindowMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.compiler.v1.PlanCompactionRequest,
      antiphon.compiler.v1.PlanCompactionResponse> getPlanCompactionMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "PlanCompaction",
      requestType = antiphon.compiler.v1.PlanCompactionRequest.class,
      responseType = antiphon.compiler.v1.PlanCompactionResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.compiler.v1.PlanCompactionRequest,
      antiphon.compiler.v1.PlanCompactionResponse> getPlanCompactionMethod() {
    io.grpc.MethodDescriptor<antiphon.compiler.v1.PlanCompactionRequest, antiphon.compiler.v1.PlanCompactionResponse> getPlanCompactionMethod;
    if ((getPlanCompactionMethod = CompilerServiceGrpc.getPlanCompactionMethod) == null) {
      synchronized (CompilerServiceGrpc.class) {
        if ((getPlanCompactionMethod = CompilerServiceGrpc.getPlanCompactionMethod) == null) {
          CompilerServiceGrpc.getPlanCompactionMethod = getPlanCompactionMethod =
              io.grpc.MethodDescriptor.<antiphon.compiler.v1.PlanCompactionRequest, antiphon.compiler.v1.PlanCompactionResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "PlanCompaction"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.compiler.v1.PlanCompactionRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.compiler.v1.PlanCompactionResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CompilerServiceMethodDescriptorSupplier("PlanCompaction"))
              .build();
        }
      }
    }
    return getPlanCompactionMethod;
  }

  private static volatile io.grpc.MethodDescriptor<antiphon.compiler.v1.ListTargetsRequest,
      antiphon.compiler.v1.ListTargetsResponse> getListTargetsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListTargets",
      requestType = antiphon.compiler.v1.ListTargetsRequest.class,
      responseType = antiphon.compiler.v1.ListTargetsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<antiphon.compiler.v1.ListTargetsRequest,
      antiphon.compiler.v1.ListTargetsResponse> getListTargetsMethod() {
    io.grpc.MethodDescriptor<antiphon.compiler.v1.ListTargetsRequest, antiphon.compiler.v1.ListTargetsResponse> getListTargetsMethod;
    if ((getListTargetsMethod = CompilerServiceGrpc.getListTargetsMethod) == null) {
      synchronized (CompilerServiceGrpc.class) {
        if ((getListTargetsMethod = CompilerServiceGrpc.getListTargetsMethod) == null) {
          CompilerServiceGrpc.getListTargetsMethod = getListTargetsMethod =
              io.grpc.MethodDescriptor.<antiphon.compiler.v1.ListTargetsRequest, antiphon.compiler.v1.ListTargetsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListTargets"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.compiler.v1.ListTargetsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  antiphon.compiler.v1.ListTargetsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CompilerServiceMethodDescriptorSupplier("ListTargets"))
              .build();
        }
      }
    }
    return getListTargetsMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static CompilerServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<CompilerServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<CompilerServiceStub>() {
        @java.lang.Override
        public CompilerServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new CompilerServiceStub(channel, callOptions);
        }
      };
    return CompilerServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static CompilerServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<CompilerServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<CompilerServiceBlockingStub>() {
        @java.lang.Override
        public CompilerServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new CompilerServiceBlockingStub(channel, callOptions);
        }
      };
    return CompilerServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static CompilerServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<CompilerServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<CompilerServiceFutureStub>() {
        @java.lang.Override
        public CompilerServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new CompilerServiceFutureStub(channel, callOptions);
        }
      };
    return CompilerServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * Compiles turn requests (ADR-0007 as a service).
   * A compilation is a pure function of the snapshot and the request: it reads
   * no clock, draws nothing at random, calls no model and changes nothing. The
   * same snapshot and the same request give the same bytes in every process.
   * With a branch as the source, every compilation makes one ReadSnapshot call
   * with the caller's own metadata and deadline, at one revision; the address of
   * the history service comes from the compiler's configuration, never from a
   * request.
   * Every RPC may answer MALFORMED_REQUEST, UNKNOWN_FIELD, FIELD_INVALID,
   * SIZE_LIMIT_EXCEEDED (a request over 3.5 MiB, a branch's selection over 256
   * MiB), CREDENTIALS_MISSING, ROLE_NOT_ALLOWED, OVERLOADED, SHUTTING_DOWN and
   * INTERNAL_ERROR; with a branch as the source also HISTORY_UNAVAILABLE,
   * SNAPSHOT_TRUNCATED and the errors of HistoryService.ReadSnapshot.
   * </pre>
   */
  public static abstract class CompilerServiceImplBase implements io.grpc.BindableService {

    /**
     * <pre>
     * Compiles and returns everything in one reply.
     * Errors: RESERVED_KEY, PROGRESSION_INVALID, CONSECUTIVE_INSTRUCTIONS,
     * FIRST_MESSAGE_NOT_INSTRUCTION, OPEN_CALLS, UNSUPPORTED_CONTENT,
     * TARGET_UNKNOWN, SIZE_LIMIT_EXCEEDED (a reply over 3.5 MiB: use
     * StreamCompile). Safe to repeat. Cost: in step with the selection.
     * </pre>
     */
    public void compile(antiphon.compiler.v1.CompileRequest request,
        io.grpc.stub.StreamObserver<antiphon.compiler.v1.CompileResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCompileMethod(), responseObserver);
    }

    /**
     * <pre>
     * Compiles and streams the outcome, of any size: for each message a
     * MessageStart, its chunks and a MessageEnd; then one Result or more. A
     * stream without a Result whose `last` is set is incomplete. A frame is at
     * most 1 MiB, or the one instruction. Errors and cost: as Compile.
     * </pre>
     */
    public void streamCompile(antiphon.compiler.v1.StreamCompileRequest request,
        io.grpc.stub.StreamObserver<antiphon.compiler.v1.StreamCompileResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getStreamCompileMethod(), responseObserver);
    }

    /**
     * <pre>
     * Turns a provider's whole response into the messages to append.
     * Errors: TARGET_UNKNOWN, FIELD_INVALID (the payload is not a response of the
     * target, or is the provider's error), SIZE_LIMIT_EXCEEDED (a reply over 3.5
     * MiB) and, unless the request keeps what there is, STREAM_INCOMPLETE (a
     * call's arguments were cut, or the provider calls what the model wrote
     * malformed and there is nothing else). Safe to repeat. Cost: in step with the
     * payload.
     * </pre>
     */
    public void parseResponse(antiphon.compiler.v1.ParseResponseRequest request,
        io.grpc.stub.StreamObserver<antiphon.compiler.v1.ParseResponseResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getParseResponseMethod(), responseObserver);
    }

    /**
     * <pre>
     * Assembles a provider's streamed response from its deltas into the messages
     * to append.
     * Errors, unless the options keep what there is: STREAM_INCOMPLETE (no
     * terminal delta; a call whose arguments were cut; the provider failed before
     * it said anything). TARGET_UNKNOWN, SIZE_LIMIT_EXCEEDED (64 MiB of deltas, a
     * reply over 3.5 MiB).
     * Safe to repeat. Cost: in step with the deltas.
     * </pre>
     */
    public io.grpc.stub.StreamObserver<antiphon.compiler.v1.AssembleResponseRequest> assembleResponse(
        io.grpc.stub.StreamObserver<antiphon.compiler.v1.AssembleResponseResponse> responseObserver) {
      return io.grpc.stub.ServerCalls.asyncUnimplementedStreamingCall(getAssembleResponseMethod(), responseObserver);
    }

    /**
     * <pre>
     * Plans a selection of the history that fits a budget of tokens: the newest
     * whole exchanges. Selecting is the caller's, so nothing is compiled.
     * Errors: BUDGET_IMPOSSIBLE, PROGRESSION_INVALID, UNSUPPORTED_CONTENT. Safe to
     * repeat. Cost: in step with the selection, times that of counting.
     * </pre>
     */
    public void planWindow(antiphon.compiler.v1.PlanWindowRequest request,
        io.grpc.stub.StreamObserver<antiphon.compiler.v1.PlanWindowResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getPlanWindowMethod(), responseObserver);
    }

    /**
     * <pre>
     * Plans a compaction: where to cut, what stays verbatim, and the text to
     * summarize. The caller summarizes; HistoryService.CommitCompaction stores
     * the outcome.
     * Errors and cost: as PlanWindow.
     * </pre>
     */
    public void planCompaction(antiphon.compiler.v1.PlanCompactionRequest request,
        io.grpc.stub.StreamObserver<antiphon.compiler.v1.PlanCompactionResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getPlanCompactionMethod(), responseObserver);
    }

    /**
     * <pre>
     * Lists the targets that this compiler projects to and what each takes. Cost:
     * constant.
     * </pre>
     */
    public void listTargets(antiphon.compiler.v1.ListTargetsRequest request,
        io.grpc.stub.StreamObserver<antiphon.compiler.v1.ListTargetsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListTargetsMethod(), responseObserver);
    }

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
          .addMethod(
            getCompileMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.compiler.v1.CompileRequest,
                antiphon.compiler.v1.CompileResponse>(
                  this, METHODID_COMPILE)))
          .addMethod(
            getStreamCompileMethod(),
            io.grpc.stub.ServerCalls.asyncServerStreamingCall(
              new MethodHandlers<
                antiphon.compiler.v1.StreamCompileRequest,
                antiphon.compiler.v1.StreamCompileResponse>(
                  this, METHODID_STREAM_COMPILE)))
          .addMethod(
            getParseResponseMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.compiler.v1.ParseResponseRequest,
                antiphon.compiler.v1.ParseResponseResponse>(
                  this, METHODID_PARSE_RESPONSE)))
          .addMethod(
            getAssembleResponseMethod(),
            io.grpc.stub.ServerCalls.asyncClientStreamingCall(
              new MethodHandlers<
                antiphon.compiler.v1.AssembleResponseRequest,
                antiphon.compiler.v1.AssembleResponseResponse>(
                  this, METHODID_ASSEMBLE_RESPONSE)))
          .addMethod(
            getPlanWindowMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.compiler.v1.PlanWindowRequest,
                antiphon.compiler.v1.PlanWindowResponse>(
                  this, METHODID_PLAN_WINDOW)))
          .addMethod(
            getPlanCompactionMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.compiler.v1.PlanCompactionRequest,
                antiphon.compiler.v1.PlanCompactionResponse>(
                  this, METHODID_PLAN_COMPACTION)))
          .addMethod(
            getListTargetsMethod(),
            io.grpc.stub.ServerCalls.asyncUnaryCall(
              new MethodHandlers<
                antiphon.compiler.v1.ListTargetsRequest,
                antiphon.compiler.v1.ListTargetsResponse>(
                  this, METHODID_LIST_TARGETS)))
          .build();
    }
  }

  /**
   * <pre>
   * Compiles turn requests (ADR-0007 as a service).
   * A compilation is a pure function of the snapshot and the request: it reads
   * no clock, draws nothing at random, calls no model and changes nothing. The
   * same snapshot and the same request give the same bytes in every process.
   * With a branch as the source, every compilation makes one ReadSnapshot call
   * with the caller's own metadata and deadline, at one revision; the address of
   * the history service comes from the compiler's configuration, never from a
   * request.
   * Every RPC may answer MALFORMED_REQUEST, UNKNOWN_FIELD, FIELD_INVALID,
   * SIZE_LIMIT_EXCEEDED (a request over 3.5 MiB, a branch's selection over 256
   * MiB), CREDENTIALS_MISSING, ROLE_NOT_ALLOWED, OVERLOADED, SHUTTING_DOWN and
   * INTERNAL_ERROR; with a branch as the source also HISTORY_UNAVAILABLE,
   * SNAPSHOT_TRUNCATED and the errors of HistoryService.ReadSnapshot.
   * </pre>
   */
  public static final class CompilerServiceStub extends io.grpc.stub.AbstractAsyncStub<CompilerServiceStub> {
    private CompilerServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected CompilerServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new CompilerServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Compiles and returns everything in one reply.
     * Errors: RESERVED_KEY, PROGRESSION_INVALID, CONSECUTIVE_INSTRUCTIONS,
     * FIRST_MESSAGE_NOT_INSTRUCTION, OPEN_CALLS, UNSUPPORTED_CONTENT,
     * TARGET_UNKNOWN, SIZE_LIMIT_EXCEEDED (a reply over 3.5 MiB: use
     * StreamCompile). Safe to repeat. Cost: in step with the selection.
     * </pre>
     */
    public void compile(antiphon.compiler.v1.CompileRequest request,
        io.grpc.stub.StreamObserver<antiphon.compiler.v1.CompileResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCompileMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Compiles and streams the outcome, of any size: for each message a
     * MessageStart, its chunks and a MessageEnd; then one Result or more. A
     * stream without a Result whose `last` is set is incomplete. A frame is at
     * most 1 MiB, or the one instruction. Errors and cost: as Compile.
     * </pre>
     */
    public void streamCompile(antiphon.compiler.v1.StreamCompileRequest request,
        io.grpc.stub.StreamObserver<antiphon.compiler.v1.StreamCompileResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getStreamCompileMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Turns a provider's whole response into the messages to append.
     * Errors: TARGET_UNKNOWN, FIELD_INVALID (the payload is not a response of the
     * target, or is the provider's error), SIZE_LIMIT_EXCEEDED (a reply over 3.5
     * MiB) and, unless the request keeps what there is, STREAM_INCOMPLETE (a
     * call's arguments were cut, or the provider calls what the model wrote
     * malformed and there is nothing else). Safe to repeat. Cost: in step with the
     * payload.
     * </pre>
     */
    public void parseResponse(antiphon.compiler.v1.ParseResponseRequest request,
        io.grpc.stub.StreamObserver<antiphon.compiler.v1.ParseResponseResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getParseResponseMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Assembles a provider's streamed response from its deltas into the messages
     * to append.
     * Errors, unless the options keep what there is: STREAM_INCOMPLETE (no
     * terminal delta; a call whose arguments were cut; the provider failed before
     * it said anything). TARGET_UNKNOWN, SIZE_LIMIT_EXCEEDED (64 MiB of deltas, a
     * reply over 3.5 MiB).
     * Safe to repeat. Cost: in step with the deltas.
     * </pre>
     */
    public io.grpc.stub.StreamObserver<antiphon.compiler.v1.AssembleResponseRequest> assembleResponse(
        io.grpc.stub.StreamObserver<antiphon.compiler.v1.AssembleResponseResponse> responseObserver) {
      return io.grpc.stub.ClientCalls.asyncClientStreamingCall(
          getChannel().newCall(getAssembleResponseMethod(), getCallOptions()), responseObserver);
    }

    /**
     * <pre>
     * Plans a selection of the history that fits a budget of tokens: the newest
     * whole exchanges. Selecting is the caller's, so nothing is compiled.
     * Errors: BUDGET_IMPOSSIBLE, PROGRESSION_INVALID, UNSUPPORTED_CONTENT. Safe to
     * repeat. Cost: in step with the selection, times that of counting.
     * </pre>
     */
    public void planWindow(antiphon.compiler.v1.PlanWindowRequest request,
        io.grpc.stub.StreamObserver<antiphon.compiler.v1.PlanWindowResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getPlanWindowMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Plans a compaction: where to cut, what stays verbatim, and the text to
     * summarize. The caller summarizes; HistoryService.CommitCompaction stores
     * the outcome.
     * Errors and cost: as PlanWindow.
     * </pre>
     */
    public void planCompaction(antiphon.compiler.v1.PlanCompactionRequest request,
        io.grpc.stub.StreamObserver<antiphon.compiler.v1.PlanCompactionResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getPlanCompactionMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Lists the targets that this compiler projects to and what each takes. Cost:
     * constant.
     * </pre>
     */
    public void listTargets(antiphon.compiler.v1.ListTargetsRequest request,
        io.grpc.stub.StreamObserver<antiphon.compiler.v1.ListTargetsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListTargetsMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * <pre>
   * Compiles turn requests (ADR-0007 as a service).
   * A compilation is a pure function of the snapshot and the request: it reads
   * no clock, draws nothing at random, calls no model and changes nothing. The
   * same snapshot and the same request give the same bytes in every process.
   * With a branch as the source, every compilation makes one ReadSnapshot call
   * with the caller's own metadata and deadline, at one revision; the address of
   * the history service comes from the compiler's configuration, never from a
   * request.
   * Every RPC may answer MALFORMED_REQUEST, UNKNOWN_FIELD, FIELD_INVALID,
   * SIZE_LIMIT_EXCEEDED (a request over 3.5 MiB, a branch's selection over 256
   * MiB), CREDENTIALS_MISSING, ROLE_NOT_ALLOWED, OVERLOADED, SHUTTING_DOWN and
   * INTERNAL_ERROR; with a branch as the source also HISTORY_UNAVAILABLE,
   * SNAPSHOT_TRUNCATED and the errors of HistoryService.ReadSnapshot.
   * </pre>
   */
  public static final class CompilerServiceBlockingStub extends io.grpc.stub.AbstractBlockingStub<CompilerServiceBlockingStub> {
    private CompilerServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected CompilerServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new CompilerServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Compiles and returns everything in one reply.
     * Errors: RESERVED_KEY, PROGRESSION_INVALID, CONSECUTIVE_INSTRUCTIONS,
     * FIRST_MESSAGE_NOT_INSTRUCTION, OPEN_CALLS, UNSUPPORTED_CONTENT,
     * TARGET_UNKNOWN, SIZE_LIMIT_EXCEEDED (a reply over 3.5 MiB: use
     * StreamCompile). Safe to repeat. Cost: in step with the selection.
     * </pre>
     */
    public antiphon.compiler.v1.CompileResponse compile(antiphon.compiler.v1.CompileRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCompileMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Compiles and streams the outcome, of any size: for each message a
     * MessageStart, its chunks and a MessageEnd; then one Result or more. A
     * stream without a Result whose `last` is set is incomplete. A frame is at
     * most 1 MiB, or the one instruction. Errors and cost: as Compile.
     * </pre>
     */
    public java.util.Iterator<antiphon.compiler.v1.StreamCompileResponse> streamCompile(
        antiphon.compiler.v1.StreamCompileRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getStreamCompileMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Turns a provider's whole response into the messages to append.
     * Errors: TARGET_UNKNOWN, FIELD_INVALID (the payload is not a response of the
     * target, or is the provider's error), SIZE_LIMIT_EXCEEDED (a reply over 3.5
     * MiB) and, unless the request keeps what there is, STREAM_INCOMPLETE (a
     * call's arguments were cut, or the provider calls what the model wrote
     * malformed and there is nothing else). Safe to repeat. Cost: in step with the
     * payload.
     * </pre>
     */
    public antiphon.compiler.v1.ParseResponseResponse parseResponse(antiphon.compiler.v1.ParseResponseRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getParseResponseMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Plans a selection of the history that fits a budget of tokens: the newest
     * whole exchanges. Selecting is the caller's, so nothing is compiled.
     * Errors: BUDGET_IMPOSSIBLE, PROGRESSION_INVALID, UNSUPPORTED_CONTENT. Safe to
     * repeat. Cost: in step with the selection, times that of counting.
     * </pre>
     */
    public antiphon.compiler.v1.PlanWindowResponse planWindow(antiphon.compiler.v1.PlanWindowRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getPlanWindowMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Plans a compaction: where to cut, what stays verbatim, and the text to
     * summarize. The caller summarizes; HistoryService.CommitCompaction stores
     * the outcome.
     * Errors and cost: as PlanWindow.
     * </pre>
     */
    public antiphon.compiler.v1.PlanCompactionResponse planCompaction(antiphon.compiler.v1.PlanCompactionRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getPlanCompactionMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists the targets that this compiler projects to and what each takes. Cost:
     * constant.
     * </pre>
     */
    public antiphon.compiler.v1.ListTargetsResponse listTargets(antiphon.compiler.v1.ListTargetsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListTargetsMethod(), getCallOptions(), request);
    }
  }

  /**
   * <pre>
   * Compiles turn requests (ADR-0007 as a service).
   * A compilation is a pure function of the snapshot and the request: it reads
   * no clock, draws nothing at random, calls no model and changes nothing. The
   * same snapshot and the same request give the same bytes in every process.
   * With a branch as the source, every compilation makes one ReadSnapshot call
   * with the caller's own metadata and deadline, at one revision; the address of
   * the history service comes from the compiler's configuration, never from a
   * request.
   * Every RPC may answer MALFORMED_REQUEST, UNKNOWN_FIELD, FIELD_INVALID,
   * SIZE_LIMIT_EXCEEDED (a request over 3.5 MiB, a branch's selection over 256
   * MiB), CREDENTIALS_MISSING, ROLE_NOT_ALLOWED, OVERLOADED, SHUTTING_DOWN and
   * INTERNAL_ERROR; with a branch as the source also HISTORY_UNAVAILABLE,
   * SNAPSHOT_TRUNCATED and the errors of HistoryService.ReadSnapshot.
   * </pre>
   */
  public static final class CompilerServiceFutureStub extends io.grpc.stub.AbstractFutureStub<CompilerServiceFutureStub> {
    private CompilerServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected CompilerServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new CompilerServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Compiles and returns everything in one reply.
     * Errors: RESERVED_KEY, PROGRESSION_INVALID, CONSECUTIVE_INSTRUCTIONS,
     * FIRST_MESSAGE_NOT_INSTRUCTION, OPEN_CALLS, UNSUPPORTED_CONTENT,
     * TARGET_UNKNOWN, SIZE_LIMIT_EXCEEDED (a reply over 3.5 MiB: use
     * StreamCompile). Safe to repeat. Cost: in step with the selection.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.compiler.v1.CompileResponse> compile(
        antiphon.compiler.v1.CompileRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCompileMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Turns a provider's whole response into the messages to append.
     * Errors: TARGET_UNKNOWN, FIELD_INVALID (the payload is not a response of the
     * target, or is the provider's error), SIZE_LIMIT_EXCEEDED (a reply over 3.5
     * MiB) and, unless the request keeps what there is, STREAM_INCOMPLETE (a
     * call's arguments were cut, or the provider calls what the model wrote
     * malformed and there is nothing else). Safe to repeat. Cost: in step with the
     * payload.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.compiler.v1.ParseResponseResponse> parseResponse(
        antiphon.compiler.v1.ParseResponseRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getParseResponseMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Plans a selection of the history that fits a budget of tokens: the newest
     * whole exchanges. Selecting is the caller's, so nothing is compiled.
     * Errors: BUDGET_IMPOSSIBLE, PROGRESSION_INVALID, UNSUPPORTED_CONTENT. Safe to
     * repeat. Cost: in step with the selection, times that of counting.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.compiler.v1.PlanWindowResponse> planWindow(
        antiphon.compiler.v1.PlanWindowRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getPlanWindowMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Plans a compaction: where to cut, what stays verbatim, and the text to
     * summarize. The caller summarizes; HistoryService.CommitCompaction stores
     * the outcome.
     * Errors and cost: as PlanWindow.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.compiler.v1.PlanCompactionResponse> planCompaction(
        antiphon.compiler.v1.PlanCompactionRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getPlanCompactionMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Lists the targets that this compiler projects to and what each takes. Cost:
     * constant.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<antiphon.compiler.v1.ListTargetsResponse> listTargets(
        antiphon.compiler.v1.ListTargetsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListTargetsMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_COMPILE = 0;
  private static final int METHODID_STREAM_COMPILE = 1;
  private static final int METHODID_PARSE_RESPONSE = 2;
  private static final int METHODID_PLAN_WINDOW = 3;
  private static final int METHODID_PLAN_COMPACTION = 4;
  private static final int METHODID_LIST_TARGETS = 5;
  private static final int METHODID_ASSEMBLE_RESPONSE = 6;

  private static final class MethodHandlers<Req, Resp> implements
      io.grpc.stub.ServerCalls.UnaryMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ServerStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ClientStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.BidiStreamingMethod<Req, Resp> {
    private final CompilerServiceImplBase serviceImpl;
    private final int methodId;

    MethodHandlers(CompilerServiceImplBase serviceImpl, int methodId) {
      this.serviceImpl = serviceImpl;
      this.methodId = methodId;
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public void invoke(Req request, io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        case METHODID_COMPILE:
          serviceImpl.compile((antiphon.compiler.v1.CompileRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.compiler.v1.CompileResponse>) responseObserver);
          break;
        case METHODID_STREAM_COMPILE:
          serviceImpl.streamCompile((antiphon.compiler.v1.StreamCompileRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.compiler.v1.StreamCompileResponse>) responseObserver);
          break;
        case METHODID_PARSE_RESPONSE:
          serviceImpl.parseResponse((antiphon.compiler.v1.ParseResponseRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.compiler.v1.ParseResponseResponse>) responseObserver);
          break;
        case METHODID_PLAN_WINDOW:
          serviceImpl.planWindow((antiphon.compiler.v1.PlanWindowRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.compiler.v1.PlanWindowResponse>) responseObserver);
          break;
        case METHODID_PLAN_COMPACTION:
          serviceImpl.planCompaction((antiphon.compiler.v1.PlanCompactionRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.compiler.v1.PlanCompactionResponse>) responseObserver);
          break;
        case METHODID_LIST_TARGETS:
          serviceImpl.listTargets((antiphon.compiler.v1.ListTargetsRequest) request,
              (io.grpc.stub.StreamObserver<antiphon.compiler.v1.ListTargetsResponse>) responseObserver);
          break;
        default:
          throw new AssertionError();
      }
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public io.grpc.stub.StreamObserver<Req> invoke(
        io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        case METHODID_ASSEMBLE_RESPONSE:
          return (io.grpc.stub.StreamObserver<Req>) serviceImpl.assembleResponse(
              (io.grpc.stub.StreamObserver<antiphon.compiler.v1.AssembleResponseResponse>) responseObserver);
        default:
          throw new AssertionError();
      }
    }
  }

  private static abstract class CompilerServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    CompilerServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return antiphon.compiler.v1.CompilerServiceOuterClass.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("CompilerService");
    }
  }

  private static final class CompilerServiceFileDescriptorSupplier
      extends CompilerServiceBaseDescriptorSupplier {
    CompilerServiceFileDescriptorSupplier() {}
  }

  private static final class CompilerServiceMethodDescriptorSupplier
      extends CompilerServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final String methodName;

    CompilerServiceMethodDescriptorSupplier(String methodName) {
      this.methodName = methodName;
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.MethodDescriptor getMethodDescriptor() {
      return getServiceDescriptor().findMethodByName(methodName);
    }
  }

  private static volatile io.grpc.ServiceDescriptor serviceDescriptor;

  public static io.grpc.ServiceDescriptor getServiceDescriptor() {
    io.grpc.ServiceDescriptor result = serviceDescriptor;
    if (result == null) {
      synchronized (CompilerServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new CompilerServiceFileDescriptorSupplier())
              .addMethod(getCompileMethod())
              .addMethod(getStreamCompileMethod())
              .addMethod(getParseResponseMethod())
              .addMethod(getAssembleResponseMethod())
              .addMethod(getPlanWindowMethod())
              .addMethod(getPlanCompactionMethod())
              .addMethod(getListTargetsMethod())
              .build();
        }
      }
    }
    return result;
  }
}
